// The events of coordinator/web/event_stream.h: messages of proto/jobs.proto in protobuf's JSON.
// There every field may be absent, integers of 64 bits are strings, and bytes are in base64.

export type Int64 = string | number;
export type Bytes = string;

export interface About {
  user: string;
  administrator: boolean;
  version: string;
}

export interface Node {
  spec?: {
    name?: Bytes;
    slots?: number;
    memoryBytes?: Int64;
    version?: string;
    accounts?: string;
    limits?: string;
  };
  state?: string;
  slotsUsed?: number;
  load?: number;
  jobs?: Int64[];
  leaseAgeMs?: Int64;
  reason?: Bytes;
}

export interface Straggler {
  pid?: number;
  node?: Bytes;
  supersteps?: Int64;
  costNs?: Int64;
}

export interface Totals {
  supersteps?: Int64;
  totalNs?: Int64;
  wNs?: Int64;
  hBytes?: Int64;
  messages?: Int64;
  processes?: number;
  computeNs?: Int64;
  waitNs?: Int64;
  releaseNs?: Int64;
  exchangeNs?: Int64;
  bytesOut?: Int64;
  bytesIn?: Int64;
  fit?: { gNsPerByte?: number; gErrorNsPerByte?: number; lNs?: number; lErrorNs?: number };
  imbalance?: number;
  predictedNs?: Int64;
  unmeasured?: Int64;
  groupSupersteps?: Int64;
  groupSyncNs?: Int64;
  groupBytesOut?: Int64;
  groupMessages?: Int64;
  stragglers?: Straggler[];
}

export interface LateProcess {
  pid?: number;
  lateness?: string;
  begun?: boolean;
  superstep?: Int64;
  messagesExpected?: Int64;
  messagesHere?: Int64;
}

export interface BarrierWait {
  node?: Bytes;
  arrived?: number;
  late?: LateProcess[];
  lateCount?: number;
  forMs?: Int64;
}

export interface Loss {
  unixMs?: Int64;
  reason?: Bytes;
  superstep?: Int64;
  resumed?: boolean;
  fromStart?: boolean;
  fromSuperstep?: Int64;
  afterMs?: Int64;
}

export interface Checkpoints {
  committed?: Int64;
  superstep?: Int64;
  committedUnixMs?: Int64;
  imageBytes?: Int64;
  pauseNs?: Int64;
  count?: Int64;
  givenUp?: Int64;
  lastFailure?: Bytes;
  underWay?: boolean;
  holders?: Bytes[];
}

export interface Job {
  job?: Int64;
  spec?: {
    name?: Bytes;
    user?: Bytes;
    nprocs?: number;
    program?: { name?: Bytes };
    arguments?: Bytes[];
    files?: { name?: Bytes }[];
    priority?: number;
  };
  state?: string;
  reason?: Bytes;
  filesLost?: Bytes;
  exitStatus?: number;
  placement?: { node?: Bytes; pids?: number[] }[];
  totals?: Totals;
  submittedUnixMs?: Int64;
  startedUnixMs?: Int64;
  endedUnixMs?: Int64;
  outputBytes?: Int64;
  checkpoints?: Checkpoints;
  losses?: Loss[];
  restarts?: number;
  barrierWaits?: BarrierWait[];
  runMs?: Int64;
}

export interface Listed {
  jobs?: Job[];
  next?: Int64;
}

export interface Jobs {
  running: Listed;
  waiting: Listed;
  ended: Listed;
}

/** As JobSeries::Since says; a stretch is what coordinator/web/job_series.h lists. */
export type Stretch = [
  beginMs: number, endMs: number, supersteps: number, computeNs: number, waitingNs: number,
  releaseNs: number, exchangeNs: number, wNs: number, hBytes: number, bytesOut: number,
  bytesIn: number, messages: number,
];
export type Mark = [kind: "checkpoint" | "recovery", unixMs: number, superstep: number];
export interface Series {
  from: number;
  stretches: Stretch[];
  marks: Mark[];
}

export interface LogLine {
  pid?: number;
  stream?: string;
  text?: Bytes;
  ofLauncher?: boolean;
}
export interface Output {
  left_out?: number;
  lines?: LogLine[];
  error?: string;
}

export interface Refusal {
  error: string;
}

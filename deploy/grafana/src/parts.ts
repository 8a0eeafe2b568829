// What the dashboards are put together of.
import type { Builder, Dataquery } from "@grafana/grafana-foundation-sdk/cog";
import {
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  StackingConfigBuilder,
  StackingMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
} from "@grafana/grafana-foundation-sdk/common";
import {
  AnnotationQueryBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from "@grafana/grafana-foundation-sdk/dashboard";
import { PanelBuilder as HeatmapBuilder } from "@grafana/grafana-foundation-sdk/heatmap";
import { DataqueryBuilder, PromQueryFormat } from "@grafana/grafana-foundation-sdk/prometheus";
import { PanelBuilder as StatBuilder } from "@grafana/grafana-foundation-sdk/stat";
import { PanelBuilder as SeriesBuilder } from "@grafana/grafana-foundation-sdk/timeseries";

export const SOURCE = { type: "prometheus", uid: "${datasource}" };

// Of Grafana's grid, which is 24 wide.
const THIRD = 8;
const SIXTH = 4;
const HIGH = 8;
const LOW = 4;

/** A query, and how its series are named. */
export type Query = [expression: string, legend: string];

function target([expression, legend]: Query): Builder<Dataquery> {
  return new DataqueryBuilder().expr(expression).legendFormat(legend).range();
}

/** Lines over time. */
export function lines(title: string, help: string, unit: string, queries: Query[]): SeriesBuilder {
  const panel = new SeriesBuilder()
    .title(title)
    .description(help)
    .datasource(SOURCE)
    .unit(unit)
    .span(THIRD)
    .height(HIGH)
    .min(0)
    .showPoints(VisibilityMode.Never)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true),
    );
  for (const query of queries) panel.withTarget(target(query));
  return panel;
}

/** Areas on top of each other, which add up to something. */
export function layers(title: string, help: string, unit: string, queries: Query[]): SeriesBuilder {
  return lines(title, help, unit, queries)
    .drawStyle(GraphDrawStyle.Line)
    .fillOpacity(60)
    .lineWidth(1)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group("A"));
}

/** One number. */
export function number(title: string, help: string, unit: string, query: string): StatBuilder {
  return new StatBuilder()
    .title(title)
    .description(help)
    .datasource(SOURCE)
    .unit(unit)
    .span(SIXTH)
    .height(LOW)
    .withTarget(target([query, ""]));
}

/** How a histogram, by its name without _bucket, changes over time. */
export function heatmap(title: string, help: string, unit: string, name: string, filter = ""): HeatmapBuilder {
  return new HeatmapBuilder()
    .title(title)
    .description(help)
    .datasource(SOURCE)
    .unit(unit)
    .span(THIRD)
    .height(HIGH)
    .calculate(false)
    .withTarget(
      new DataqueryBuilder()
        .expr(`sum by (le) (increase(${name}_bucket${filter}[$__rate_interval]))`)
        .format(PromQueryFormat.Heatmap)
        .legendFormat("{{le}}")
        .range(),
    );
}

/** Marks where an expression is above 0. */
export function marks(name: string, color: string, expression: string, text: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder()
    .name(name)
    .datasource(SOURCE)
    .enable(true)
    .iconColor(color)
    .expr(expression)
    .step("15s")
    .titleFormat(name)
    .textFormat(text);
}

/** Recoveries and checkpoints; `of_job`: of one, by a filter. */
export function allMarks(of_job: string): AnnotationQueryBuilder[] {
  const commits = of_job
    ? `changes(bspnow_job_committed_superstep${of_job}[30s]) > 0`
    : `increase(bspnow_checkpoints_total{end="committed"}[30s]) > 0`;
  const recoveries = of_job ? `bspnow_job_recoveries_total${of_job}` : "bspnow_job_recoveries_total";
  return [
    marks("Recovery", "red", `increase(${recoveries}[30s]) > 0`, "job {{bsp_job}} went back"),
    marks("Checkpoint", "green", commits, "committed"),
  ];
}

export function jobVariable(): QueryVariableBuilder {
  return new QueryVariableBuilder("bsp_job")
    .label("Job")
    .datasource(SOURCE)
    .query("label_values(bspnow_job_info, bsp_job)")
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NumericalDesc);
}

export function dashboard(uid: string, title: string): DashboardBuilder {
  return new DashboardBuilder(title)
    .uid(uid)
    .tags(["bspnow"])
    .timezone("browser")
    .refresh("15s")
    .time({ from: "now-1h", to: "now" })
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder("datasource").label("Prometheus").type("prometheus"));
}

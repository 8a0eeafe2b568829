// Elements of the page. What others have chosen becomes text, never markup.

type Child = Node | string;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Only what differs is touched: a selection, or what a screen reader reads, stays. */
export function setText(target: Node, value: string): void {
  if (target.textContent !== value) target.textContent = value;
}

export interface Row {
  key: string;
  cells: string[];
  link?: string;
  state?: string;
}

/** A table whose rows stay the same elements while they stay: the focus does, too. */
export class Table {
  readonly box: HTMLElement;
  private readonly body = element("tbody");
  private readonly empty: HTMLElement;
  private readonly note = element("p", { class: "note" });
  private readonly title = element("span");
  private readonly rows = new Map<string, HTMLTableRowElement>();

  constructor(private readonly name: string, heads: string[], nothing: string) {
    this.empty = element("p", { class: "note" }, nothing);
    const head = element("tr", {}, ...heads.map((each) => element("th", { scope: "col" }, each)));
    const table = element("table", {}, element("thead", {}, head), this.body);
    this.box = element("section", { class: "list" }, element("h2", {}, this.title),
      element("div", { class: "scroll" }, table), this.empty, this.note);
    setText(this.title, name);
    // Before it is known what there is, it does not say that there is nothing.
    this.empty.hidden = this.note.hidden = table.hidden = true;
  }

  show(rows: Row[], note = ""): void {
    setText(this.title, rows.length > 0 ? `${this.name} (${rows.length})` : this.name);
    this.empty.hidden = rows.length > 0;
    (this.body.parentElement as HTMLElement).hidden = rows.length === 0;
    this.note.hidden = note === "";
    setText(this.note, note);
    const keys = new Set(rows.map((row) => row.key));
    for (const [key, row] of this.rows)
      if (!keys.has(key)) {
        row.remove();
        this.rows.delete(key);
      }
    rows.forEach((row, place) => this.showRow(row, place));
  }

  private showRow(row: Row, place: number): void {
    let shown = this.rows.get(row.key);
    if (!shown) {
      shown = element("tr");
      for (const _ of row.cells) shown.append(element("td"));
      if (row.link) shown.cells[0]!.append(element("a", { href: row.link, "data-row": "" }));
      this.rows.set(row.key, shown);
    }
    row.cells.forEach((cell, i) => {
      const at = shown.cells[i]!;
      setText(i === 0 && row.link ? at.firstChild! : at, cell);
    });
    shown.dataset["state"] = row.state ?? "";
    if (this.body.children[place] !== shown)
      this.body.insertBefore(shown, this.body.children[place] ?? null);
  }
}

/** Names and values. */
export class Facts {
  readonly box = element("dl");
  private readonly values = new Map<string, HTMLElement>();

  show(facts: [name: string, value: string][]): void {
    const names = facts.map(([name]) => name);
    if ([...this.values.keys()].join() !== names.join()) {
      this.values.clear();
      this.box.replaceChildren();
      for (const name of names) {
        const value = element("dd");
        this.values.set(name, value);
        this.box.append(element("div", {}, element("dt", {}, name), value));
      }
    }
    for (const [name, value] of facts) setText(this.values.get(name)!, value);
  }
}

/** A part that is shown only while it has something to say. */
export class Notes {
  readonly box: HTMLElement;
  private readonly list = element("ul");

  constructor(title: string, kind: string) {
    this.box = element("section", { class: kind }, element("h3", {}, title), this.list);
  }

  show(notes: string[]): void {
    this.box.hidden = notes.length === 0;
    while (this.list.children.length > notes.length) this.list.lastChild!.remove();
    notes.forEach((note, i) => {
      if (!this.list.children[i]) this.list.append(element("li"));
      setText(this.list.children[i]!, note);
    });
  }
}

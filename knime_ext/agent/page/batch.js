// The table of runs: sorted, filtered, and each conversation made when it is opened.

function enhanceBatch() {
  const body = document.querySelector(".batch-table tbody");
  const rows = [...body.querySelectorAll("tr.row")];
  const dialog = document.querySelector(".run-dialog");
  const bar = document.querySelector(".rows-bar");
  const find = bar.querySelector(".find-rows");
  bar.hidden = false;
  const visible = () => [...body.querySelectorAll("tr.row:not(.away)")];
  const viewer = makeViewer(dialog, visible, () => find.value.trim());
  for (const row of rows) makeOpener(row, viewer);
  makeSortable(body, rows);
  makeFilters(bar, find, rows, body);
  listenToKeys(() => (dialog.open ? dialog : null));
  document.addEventListener("keydown", (event) => {
    if (dialog.open || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "/") { event.preventDefault(); find.focus(); }
  });
}

function makeOpener(row, viewer) {
  if (!row.dataset.run) return;
  const head = row.querySelector("th");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "open";
  button.textContent = head.textContent;
  button.title = "Show the conversation";
  head.replaceChildren(button);
  row.classList.add("ready");
  row.addEventListener("click", () => { if (String(getSelection()) === "") viewer.show(row); });
}

function makeSortable(body, rows) {
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const heads = [...document.querySelectorAll(".batch-table thead th")];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      // Numbers are sought from the largest, names from the first.
      const first = head.dataset.sort === "number" ? "descending" : "ascending";
      const second = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      for (const other of heads) other.setAttribute("aria-sort", other === head ? order : "none");
      const sign = order === "ascending" ? 1 : -1;
      const keyed = rows.map((row) => [sortKey(row.cells[column]), row]);
      keyed.sort(([a], [b]) => sign * (typeof a === "number" ? a - b : emptyLast(a, b, sign) || collator.compare(a, b)));
      body.append(...keyed.map(([, row]) => row));
    });
  });
}

function sortKey(cell) {
  return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
}

function emptyLast(a, b, sign) {
  return sign * ((a === "") - (b === ""));
}

function makeFilters(bar, find, rows, body) {
  const chips = [...bar.querySelectorAll(".chip")];
  const count = bar.querySelector(".count");
  const nothing = document.createElement("tr");
  nothing.innerHTML = '<td class="nothing" colspan="9">No row fits.</td>';
  const texts = new Map();
  const update = () => {
    const wanted = find.value.trim().toLowerCase();
    const pressed = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true");
    let shown = 0;
    for (const row of rows) {
      const status = row.querySelector(".badge").textContent;
      const chosen = (chip) => "failedCalls" in chip.dataset ? "failedCalls" in row.dataset : chip.dataset.status === status;
      const ok = (!pressed.length || pressed.some(chosen)) && (!wanted || textOf(row, texts).includes(wanted));
      row.classList.toggle("away", !ok);
      shown += ok;
    }
    count.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows`;
    if (shown) nothing.remove();
    else body.append(nothing);
  };
  let wait = 0;
  find.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(update, 150); });
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      update();
    });
  }
  update();
}

/** What is searched in a row: its cells, and the text of its conversation without making that. */
function textOf(row, known) {
  if (!known.has(row)) {
    const run = row.dataset.run ? document.getElementById(row.dataset.run).textContent : "";
    known.set(row, (row.textContent + " " + plain(run)).toLowerCase());
  }
  return known.get(row);
}

function plain(html) {
  const names = { lt: "<", gt: ">", quot: '"', "#x27": "'", amp: "&" };
  return html.replace(/<[^>]*>/g, " ").replace(/&(lt|gt|quot|#x27|amp);/g, (_, name) => names[name]);
}

function makeViewer(dialog, visible, words) {
  const body = dialog.querySelector(".dialog-body");
  let current = null;
  const show = (row) => {
    if (current) current.classList.remove("current");
    current = row;
    row.classList.add("current");
    // Our own HTML, in which everything foreign is escaped; the page's policy stops any script in it all the same.
    body.innerHTML = document.getElementById(row.dataset.run).textContent;
    body.scrollTop = 0;
    enhance(dialog);
    const rows = visible();
    const at = rows.indexOf(row);
    dialog.querySelector(".place").textContent = at < 0 ? "" : `${at + 1} of ${rows.length}`;
    dialog.querySelector(".previous").disabled = !rows.slice(0, Math.max(at, 0)).some((other) => other.dataset.run);
    dialog.querySelector(".next").disabled = !rows.slice(at + 1).some((other) => other.dataset.run);
    if (!dialog.open) dialog.showModal();
    const find = body.querySelector(".find");
    if (words() && body.querySelector(".talk").textContent.toLowerCase().includes(words().toLowerCase())) {
      find.value = words();
      find.dispatchEvent(new Event("input"));
    }
  };
  const move = (by) => {
    const rows = visible();
    let at = rows.indexOf(current) + by;
    while (rows[at] && !rows[at].dataset.run) at += by;
    if (rows[at]) show(rows[at]);
  };
  dialog.querySelector(".previous").addEventListener("click", () => move(-1));
  dialog.querySelector(".next").addEventListener("click", () => move(1));
  dialog.querySelector(".close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("keydown", (event) => {
    if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") move(event.key === "ArrowRight" ? 1 : -1);
  });
  dialog.addEventListener("close", () => {
    body.replaceChildren();
    if (current) { current.scrollIntoView({ block: "nearest" }); current.querySelector(".open").focus(); }
  });
  return { show };
}

enhanceBatch();

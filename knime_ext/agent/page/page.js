"use strict";
// What a page can do when scripts run. Everything can be read without: controls that need this file start hidden.

/** Makes the conversation below `root` searchable, foldable and copyable. */
function enhance(root) {
  addCopyButtons(root);
  const bar = root.querySelector(".toolbar");
  if (!bar) return;
  bar.hidden = false;
  const find = bar.querySelector(".find");
  const only = bar.querySelector(".only");
  let wait = 0;
  const update = () => filterTalk(root, find.value, only.value, bar.querySelector(".found"));
  find.addEventListener("input", () => { clearTimeout(wait); wait = setTimeout(update, 120); });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") { event.preventDefault(); clearTimeout(wait); update(); nextHit(root, event.shiftKey); }
    if (event.key === "Escape" && find.value) { event.preventDefault(); event.stopPropagation(); find.value = ""; update(); }
  });
  only.addEventListener("change", update);
  addFoldButton(root, bar.querySelector(".fold-all"));
  for (const link of root.querySelectorAll('a[href^="#turn-"]')) {
    // Inside a frame the address of the page may not be its own, so the jump is made here.
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const turn = root.querySelector(`[id="${link.hash.slice(1)}"]`);
      if (turn) focusOn(turn);
    });
  }
}

function addFoldButton(root, button) {
  const foldable = () => [...root.querySelectorAll(".call")];
  const label = () => { button.textContent = foldable().some((call) => !call.open) ? "Unfold all" : "Fold all"; };
  button.hidden = foldable().length === 0;
  button.addEventListener("click", () => {
    const open = foldable().some((call) => !call.open);
    for (const call of foldable()) call.open = open;
    label();
  });
  root.addEventListener("toggle", label, true);
  label();
}

function focusOn(item) {
  item.tabIndex = -1;
  item.scrollIntoView({ block: "start" });
  item.focus({ preventScroll: true });
}

/** Shows the messages and calls that have the words, of one kind; unfolds where they are found. */
function filterTalk(root, words, kind, status) {
  const wanted = words.trim().toLowerCase();
  let shown = 0;
  for (const message of root.querySelectorAll(".talk > .message")) {
    const calls = [...message.querySelectorAll(":scope > .call")];
    const fitting = calls.filter((call) => fits(call, wanted, kind));
    for (const call of calls) call.classList.toggle("away", kind !== "" && !fitting.includes(call));
    const ok = kind === "" ? has(message, wanted) : fitting.length > 0;
    message.classList.toggle("away", !ok);
    if (ok) shown += kind === "" ? 1 : fitting.length;
  }
  const hits = mark(root, wanted);
  const noun = kind === "" ? "message" : kind === "errors" ? "error" : "call";
  const count = `${shown} ${noun}${shown === 1 ? "" : "s"}`;
  status.textContent = wanted ? `${hits} in ${count}` : kind ? count : "";
}

function fits(call, wanted, kind) {
  return (kind !== "errors" || call.matches(".failed") || call.querySelector(".failed") !== null) && has(call, wanted);
}

function has(item, wanted) {
  return !wanted || item.textContent.toLowerCase().includes(wanted);
}

let hitRanges = [];
let hitIndex = -1;

/** Marks the words without changing the page, and unfolds what holds them. Gives the number of places. */
function mark(root, wanted) {
  hitRanges = [];
  hitIndex = -1;
  if (wanted) {
    const walker = document.createTreeWalker(root.querySelector(".talk"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && hitRanges.length < 2000) collect(walker.currentNode, wanted);
  }
  for (const range of hitRanges) unfold(range.startContainer, root);
  if (window.CSS && CSS.highlights) {
    CSS.highlights.delete("found");
    if (hitRanges.length) CSS.highlights.set("found", new Highlight(...hitRanges));
  }
  return hitRanges.length;
}

function collect(node, wanted) {
  if (node.parentElement.closest(".away, .source")) return; // a source repeats what its table shows
  const text = node.data.toLowerCase();
  if (text.length !== node.data.length) return; // letters that change their number when small
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    const range = new Range();
    range.setStart(node, at);
    range.setEnd(node, at + wanted.length);
    hitRanges.push(range);
  }
}

function unfold(node, root) {
  for (let item = node.parentElement; item && item !== root; item = item.parentElement) {
    const inSummary = item.tagName === "SUMMARY";
    if (inSummary) item = item.parentElement;
    else if (item.tagName === "DETAILS") item.open = true;
  }
}

function nextHit(root, back) {
  if (!hitRanges.length) return;
  hitIndex = (hitIndex + (back ? -1 : 1) + hitRanges.length) % hitRanges.length;
  hitRanges[hitIndex].startContainer.parentElement.scrollIntoView({ block: "center" });
  root.querySelector(".found").textContent = `${hitIndex + 1} of ${hitRanges.length}`;
}

function addCopyButtons(root) {
  for (const block of root.querySelectorAll(".code")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this text");
    button.addEventListener("click", () => copy(block.querySelector("pre").textContent, button));
    block.append(button);
  }
}

async function copy(text, button) {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = copyOldWay(text, button.closest("dialog") || document.body); // frames may not use the clipboard's API
  }
  button.textContent = done ? "Copied" : "Not allowed here";
  button.classList.add("done");
  setTimeout(() => { button.textContent = "Copy"; button.classList.remove("done"); }, 1500);
}

function copyOldWay(text, place) {
  const area = document.createElement("textarea");
  const focused = document.activeElement;
  area.value = text;
  place.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (focused) focused.focus();
  return done;
}

function isTyping(target) {
  return target instanceof HTMLElement && target.closest("input, select, textarea, [contenteditable]") !== null;
}

/** Keys for the conversation: "/" searches, "j" and "k" go to the next and previous message. */
function listenToKeys(scope) {
  document.addEventListener("keydown", (event) => {
    const root = scope();
    if (!root || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (event.key === "/") { event.preventDefault(); root.querySelector(".find").focus(); }
    if (event.key === "j" || event.key === "k") step(root, event.key === "j" ? 1 : -1);
  });
}

function step(root, by) {
  const messages = [...root.querySelectorAll(".talk > .message:not(.away)")];
  const current = document.activeElement ? document.activeElement.closest(".message") : null;
  const at = messages.indexOf(current);
  const next = messages[at < 0 ? (by > 0 ? 0 : messages.length - 1) : at + by];
  if (next) focusOn(next);
}

/** On paper everything is unfolded; afterwards it is as it was. */
function unfoldForPrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const item of opened) item.open = true;
  });
  addEventListener("afterprint", () => {
    for (const item of opened) item.open = false;
    opened = [];
  });
}

unfoldForPrint();
if (document.body.classList.contains("run")) {
  enhance(document.body);
  listenToKeys(() => document.body);
}

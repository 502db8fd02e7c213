// The page: asks for the overview every two seconds while somebody looks, and for the queue that is
// open. All that comes from the cluster is written as text: no name can become an element.
"use strict";

const EVERY = 2000; // milliseconds
const AFTER_FAILURE = 5000;
const at = (id) => document.getElementById(id);
const number = (n) => (n ?? 0).toLocaleString("en");
const counted = (n, what) => `${number(n)} ${what}${n === 1 ? "" : "s"}`;
const rows = new Map(); // by queue: its row, what it shows, and the line that it was made of
let order = "";
let current = ""; // the queue whose row Tab reaches
let opened = ""; // the queue in the dialog
let reading = false;
let timer = 0;

function element(tag, className, ...inside) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...inside.filter((one) => one !== "")); // strings become text
  return made;
}

function age(since, now) {
  const seconds = Math.max(0, (Date.parse(now) - Date.parse(since)) / 1000);
  if (!since || Number.isNaN(seconds)) return "";
  for (const [unit, length] of [["d", 86400], ["h", 3600], ["min", 60]])
    if (seconds >= length) return `${Math.floor(seconds / length)} ${unit}`;
  return `${Math.floor(seconds)} s`;
}

// --- bars: the numbers stand beside them, so nobody has to tell colours ------------------------

function bar(scale, parts, mark, beyond) {
  const made = element("div", beyond ? "bar beyond" : "bar");
  made.setAttribute("aria-hidden", "true");
  const share = (n) => `${scale ? Math.min(100, (100 * n) / scale) : 0}%`;
  for (const [className, n] of parts) {
    if (!n) continue;
    const part = element("i", className);
    part.style.width = share(n);
    made.append(part);
  }
  if (mark !== null) {
    const line = element("i", "mark");
    line.style.left = share(mark);
    made.append(line);
  }
  return made;
}

function cardLine(card) {
  const { name, quota = 0, allocated = 0, inqueue = 0, requested = 0, borrowed = 0 } = card;
  const charged = allocated + inqueue;
  const waits = Math.max(0, requested - charged);
  const parts = [["held", allocated], ["released", inqueue], ["waits", waits]];
  const title = element("span", "", name);
  title.title = name;
  const said = element("span", "said");
  if (charged > quota) said.append(element("span", "over", `over by ${number(charged - quota)} `));
  if (borrowed) said.append(element("span", "soft", `${number(borrowed)} borrowed `));
  if (inqueue) said.append(element("span", "soft", `${number(inqueue)} released `));
  if (waits) said.append(element("span", "wait", `${number(waits)} wait`));
  const drawn = bar(Math.max(quota, charged + waits), parts, quota, charged > quota);
  return element("div", "line", title, drawn, element("span", "n", `${number(charged)} / ${number(quota)}`), said);
}

// --- the overview --------------------------------------------------------------------------------

function showCards(cards, more) {
  at("cards").replaceChildren(...cards.map((card) => {
    const { name, allocatable = 0, allocated = 0, free = 0, quota = 0 } = card;
    const title = element("b", "", name);
    title.title = name;
    const said = element("small", "",
      `${number(allocated)} of ${number(allocatable)} in use · ${number(free)} free · quotas ${number(quota)}`);
    if (quota > allocatable) said.append(element("span", "over", ` · oversold by ${number(quota - allocatable)}`));
    const scale = Math.max(allocatable, allocated);
    return element("div", "card", title, bar(scale, [["held", allocated]], null, allocated > allocatable), said);
  }));
  at("more-cards").textContent = more ? `${counted(more, "more card")}` : "";
}

function rowOf(queue) {
  const made = element("div", "row");
  made.setAttribute("role", "row");
  const open = element("button", "", queue.name);
  open.tabIndex = -1;
  open.setAttribute("aria-haspopup", "dialog");
  const cells = [element("div", "", open), element("div"), element("div", "waiting n")];
  for (const cell of cells) cell.setAttribute("role", "cell");
  const note = element("span", "note");
  cells[0].append(note);
  made.append(...cells);
  made.addEventListener("click", () => openQueue(queue.name));
  return { row: made, open, note, cards: cells[1], waiting: cells[2], line: "" };
}

function fill(shown, queue, now) {
  const waits = queue.waiting ?? 0;
  const said = waits ? `${counted(waits, "pod")} · ${age(queue.oldest, now)}` : "–";
  if (shown.waiting.textContent !== said) shown.waiting.textContent = said;
  const line = JSON.stringify(queue);
  if (line === shown.line) return;
  Object.assign(shown, { line, queue });
  const state = queue.state === "Open" ? "" : queue.state;
  shown.note.replaceChildren(element("span", "over", queue.note || state));
  const more = queue.moreCards ? [element("small", "soft", `${counted(queue.moreCards, "more card")}`)] : [];
  const none = queue.cards.length ? [] : [element("span", "soft", "no quota")];
  shown.cards.replaceChildren(...queue.cards.map(cardLine), ...more, ...none);
  shown.waiting.classList.toggle("wait", waits > 0);
}

function showQueues(queues, more, now) {
  const there = new Set(queues.map((queue) => queue.name));
  for (const [name, shown] of rows)
    if (!there.has(name)) { shown.row.remove(); rows.delete(name); }
  for (const queue of queues) {
    if (!rows.has(queue.name)) rows.set(queue.name, rowOf(queue));
    fill(rows.get(queue.name), queue, now);
  }
  at("more-queues").textContent = more ? `${counted(more, "more queue")}, by name` : "";
  arrange();
}

const most = (what) => (a, b) => (b[what] ?? 0) - (a[what] ?? 0);
const SORTS = { name: () => 0, waiting: most("waiting"), held: most("held") };

function arrange() {
  const wanted = at("find").value.trim().toLowerCase();
  const compare = SORTS[at("sort").value];
  const all = [...rows.values()].sort(
    (a, b) => compare(a.queue, b.queue) || (a.queue.name < b.queue.name ? -1 : 1));
  let shown = 0;
  for (const { row, queue } of all) {
    const found = !wanted || [queue, ...queue.cards].some((one) => one.name.toLowerCase().includes(wanted));
    row.hidden = !found || (at("only-waiting").checked && !queue.waiting)
      || (at("only-noted").checked && !queue.note);
    shown += !row.hidden;
  }
  const now = all.map((one) => one.queue.name).join("\n");
  if (now !== order) { // moving a row takes its focus away
    const focused = document.activeElement;
    at("rows").replaceChildren(...all.map((one) => one.row));
    if (at("rows").contains(focused)) focused.focus();
    order = now;
  }
  at("shown").textContent = shown === all.length ? counted(shown, "queue") : `${number(shown)} of ${counted(all.length, "queue")}`;
  const seen = all.filter((one) => !one.row.hidden);
  if (!seen.some((one) => one.queue.name === current)) current = seen[0]?.queue.name ?? "";
  for (const one of all) one.open.tabIndex = one.queue.name === current ? 0 : -1;
}

function move(event) {
  const seen = [...rows.values()].filter((one) => !one.row.hidden);
  seen.sort((a, b) => (a.row.compareDocumentPosition(b.row) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
  const from = seen.findIndex((one) => one.open === document.activeElement);
  const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: seen.length - 1 }[event.key];
  if (from < 0 || to === undefined) return;
  event.preventDefault();
  const next = seen[Math.max(0, Math.min(seen.length - 1, to))];
  rows.get(current).open.tabIndex = -1;
  current = next.queue.name;
  next.open.tabIndex = 0;
  next.open.focus();
}

function showOverview({ missing, nodes, overview }) {
  performance.mark("overview");
  at("leader").textContent = overview.leader ? `led by ${overview.leader}` : "";
  at("missing").hidden = !missing.length;
  at("missing").replaceChildren(...missing.map((one) => element("li", "", `Not shown: ${one} is needed`)));
  at("nodes").hidden = !nodes;
  showCards(overview.cards, overview.moreCards);
  showQueues(overview.queues, overview.moreQueues, overview.time);
  at("live").textContent = `live, ${overview.time.slice(11, 19)} UTC`;
  at("live").classList.add("on");
  problem(overview.leader ? "" : "No replica leads: no gate opens, and whoever waits goes on waiting.");
  performance.measure("overview", "overview");
}

// --- one queue -------------------------------------------------------------------------------------

function table(head, lines) { // a head that begins with # has numbers below it
  const cell = (tag, i, said) => {
    const made = element(tag, head[i].startsWith("#") ? "n" : "", said);
    if (tag === "th") made.scope = "col";
    return made;
  };
  const top = element("tr", "", ...head.map((one, i) => cell("th", i, one.replace("#", ""))));
  const below = lines.map((line) => element("tr", "", ...line.map((said, i) => cell("td", i, said))));
  return element("table", "", element("thead", "", top), element("tbody", "", ...below));
}

const amounts = (list) => list.map((one) => `${one.name} ${number(one.amount)}`).join(", ") || "–";
const part = (n, all, what) => (all > n ? `${number(n)} of ${number(all)} ${what}` : counted(n, what.replace(/s$/, "")));

function showQueue({ names, queue }) {
  at("queue-title").textContent = `${queue.queue}: ${queue.state}${queue.fifo ? ", strictly in order (fifo)" : ""}`;
  const inside = [];
  const section = (title, ...things) => inside.push(element("h3", "", title), ...things);
  if (queue.quotaProblem)
    inside.push(element("p", "over", `The quota cannot be read, the last good one is in force: ${queue.quotaProblem}`));
  section("Cards", ...queue.cards.map(cardLine), table(
    ["Card", "#Quota", "#Deserved", "#Allocated", "#Inqueue", "#Requested", "#Left", "#In cluster", "#Free", "#Most on a node",
      "#Fits now"],
    queue.cards.map((one) => [one.name, ...["quota", "deserved", "allocated", "inqueue", "requested", "left", "allocatable",
      "free", "mostOnNode", "fits"].map((key) => number(one[key]))])));
  if (queue.moreCards) inside.push(element("p", "more", counted(queue.moreCards, "more card")));
  section("Cpu and memory", table(["Resource", "#Quota", "#Allocated", "#Inqueue", "#Requested", "#Left"],
    queue.resources.map((one) => [one.name, one.quota ?? "–", one.allocated, one.inqueue, one.requested, one.left ?? "–"])));
  const holders = queue.holders.length + queue.moreHolders;
  section(`Who holds cards: ${part(queue.holders.length, holders, "holders")}, ${counted(queue.heldPods, "pod")}`);
  if (queue.holders.length) inside.push(table(["Holder", "Namespace", "#Pods", "Cards", "#For"],
    queue.holders.map((one) => [`${one.kind}/${one.name}`, one.namespace, one.pods ? number(one.pods) : "reserved",
      amounts(one.cards), age(one.since, queue.time)])));
  const waiters = queue.waiters.length + queue.moreWaiters;
  section(`Who waits: ${part(queue.waiters.length, waiters, "waiters")}, ${counted(queue.waitingPods, "pod")} at the gate`);
  if (queue.waiters.length) inside.push(table(["#Place", "Waiter", "Namespace", "#Pods", "Asks for", "#Waits", "Reason"],
    queue.waiters.map((one) => [number(one.place), `${one.kind}/${one.name}`, one.namespace, number(one.pods),
      amounts(one.asks), age(one.since, queue.time), one.reason || "RoomNow"])));
  const places = new Map(); // each sentence once
  for (const one of queue.waiters) places.set(one.message, [...(places.get(one.message) ?? []), one.place]);
  for (const [message, those] of places)
    inside.push(element("blockquote", "", `${those.length === 1 ? "place" : "places"} ${those.join(", ")}: ${message}`));
  if (!names) inside.push(element("p", "more",
    "Names are not shown: create on queuereviews.cardquota.volcano.sh is needed"));
  at("queue-body").replaceChildren(...inside);
}

async function openQueue(name) {
  rows.get(current)?.open.setAttribute("tabindex", "-1");
  [opened, current] = [name, name];
  rows.get(name).open.tabIndex = 0;
  rows.get(name).open.focus(); // where the focus returns to
  at("queue-title").textContent = name;
  at("queue-body").replaceChildren(element("p", "soft", "reading …"));
  at("queue").showModal();
  await readQueue();
}

async function readQueue() {
  const asked = opened;
  let found;
  try {
    found = await read(`queue?name=${encodeURIComponent(asked)}`);
  } catch (error) {
    if (asked === opened) at("queue-body").replaceChildren(element("p", "over", error.message));
    return;
  }
  if (asked === opened) showQueue(found);
}

// --- nodes -----------------------------------------------------------------------------------------

function showNodes({ nodes, more }) {
  at("node-rows").replaceChildren(...nodes.map((node) => {
    const cards = node.cards.map((card) => {
      const unit = card.unit ? ` ${card.unit}` : "";
      const said = `${number(card.used)} / ${number(card.offered)}${unit}`;
      return element("div", "line", element("span", "", card.name),
        bar(Math.max(card.offered, card.used), [["held", card.used]], null, card.used > card.offered), element("span", "n", said), element("span"));
    });
    const note = element("span", "note over", [node.takesPods ? "" : "takes no pods", node.problem ?? ""].filter(Boolean).join("; "));
    return element("div", "row", element("div", "", element("b", "", node.name), note), element("div", "", ...cards));
  }));
  at("more-nodes").textContent = `${counted(nodes.length, "node")} with cards, the most free first`
    + (more ? `; ${counted(more, "more node")} not listed` : "");
}

async function readNodes() {
  let found;
  try {
    found = await read("nodes");
  } catch (error) {
    at("more-nodes").textContent = error.message;
    return;
  }
  showNodes(found);
}

// --- reading -----------------------------------------------------------------------------------------

async function read(what) {
  let answer;
  try {
    answer = await fetch(what, { cache: "no-store", signal: AbortSignal.timeout(10000) });
  } catch {
    throw new Error("No answer: does `kubectl cardquota page` still run?");
  }
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 500) || `status ${answer.status}`);
  return answer.json();
}

function problem(text) {
  if (at("problem").textContent !== text) at("problem").textContent = text;
  at("problem").hidden = !text;
}

async function refresh() {
  if (reading || document.hidden) return;
  reading = true;
  clearTimeout(timer);
  let pause = EVERY;
  try {
    showOverview(await read("overview"));
    if (at("nodes").open && !at("nodes").hidden) await readNodes();
    if (opened) await readQueue();
  } catch (error) {
    problem(error.message);
    at("live").textContent = "not live";
    at("live").classList.remove("on");
    pause = AFTER_FAILURE;
  }
  reading = false;
  timer = setTimeout(refresh, pause);
}

document.addEventListener("visibilitychange", refresh);
at("rows").addEventListener("keydown", move);
at("queue").addEventListener("close", () => { opened = ""; });
at("nodes").addEventListener("toggle", refresh);
for (const id of ["find", "only-waiting", "only-noted", "sort"]) at(id).addEventListener("input", arrange);
refresh();

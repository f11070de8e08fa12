// Unfolds the box of the map that the address names, as in map.html#map-theorem-1. A box that a reader
// unfolds puts its name into the address, so the address can be sent and survives a reload. Without
// this script, boxes still unfold and links still lead to them.
const mapBoxes = [...document.querySelectorAll("details.map-box")];
const mapName = (box) => box.querySelector(".map-content").id;
const unfoldNamed = () => {
  const box = mapBoxes.find((each) => `#${mapName(each)}` === location.hash);
  if (!box) return;
  box.open = true;
  box.scrollIntoView();
  box.querySelector("summary").focus({ preventScroll: true });
};
for (const box of mapBoxes) {
  box.querySelector("summary").addEventListener("click", () => {
    // The box unfolds or folds after the click.
    const hash = box.open ? "" : `#${mapName(box)}`;
    if (box.open && location.hash !== `#${mapName(box)}`) return;
    history.replaceState(null, "", location.pathname + location.search + hash);
  });
}
// A second click on the same link changes no address.
for (const link of document.querySelectorAll('a[href^="#map-"]')) {
  link.addEventListener("click", () => setTimeout(unfoldNamed));
}
addEventListener("hashchange", unfoldNamed);
unfoldNamed();

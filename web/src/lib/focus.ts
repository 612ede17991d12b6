/**
 * Keeps the focus on the page. When the focused element is removed or disabled (an answered question, a screen that was
 * left), the focus moves to the nearest enclosing region, and back to the element once that is enabled again.
 */

/** Elements that may take the focus; `data-focus` names a better descendant, `data-rest` one for users who point. */
const HOME = 'dialog[open], [data-region], [data-focus]';

let last: HTMLElement | null = null;
/** True if the keyboard moved the focus there. After a touch, focusing a field would open the keyboard of a phone. */
let isKeyed = false;
let around: Element[] = [];
let borrowed: { from: HTMLElement; to: HTMLElement } | null = null;

function remember(event: FocusEvent): void {
  if (!(event.target instanceof HTMLElement)) return;
  if (event.target !== borrowed?.to) borrowed = null;
  last = event.target;
  isKeyed = last.matches(':focus-visible');
  around = [];
  for (let at = last.parentElement; at; at = at.parentElement) if (at.matches(HOME)) around.push(at);
}

const isUsable = (element: HTMLElement): boolean => element.isConnected && !element.matches(':disabled') && element.getClientRects().length > 0;

function restoreFocus(): void {
  if (isAwaited) focusHeading();
  if (borrowed && document.activeElement === borrowed.to && isUsable(borrowed.from)) {
    borrowed.from.focus({ preventScroll: true });
    return;
  }
  if (last === null || (document.activeElement !== document.body && document.activeElement !== null)) return;
  if (isUsable(last)) return;
  const from = last;
  const home = around.find((one) => one.isConnected && one.getClientRects().length > 0) ?? document.querySelector('main');
  if (!(home instanceof HTMLElement)) return;
  const wanted = isKeyed ? home.dataset.focus : home.dataset.rest;
  const inner = wanted ? home.querySelector<HTMLElement>(wanted) : null;
  const to = inner && isUsable(inner) ? inner : home;
  if (to === home && !home.hasAttribute('tabindex')) home.tabIndex = -1;
  if (from.isConnected) borrowed = { from, to };
  to.focus({ preventScroll: true });
}

/** True while a new screen loads, whose heading will take the focus. */
let isAwaited = false;

/** Focuses the heading of a new screen, so that a screen reader starts there; not if the focus is in the screen already. */
function focusHeading(): void {
  const main = document.querySelector('main');
  const heading = main?.querySelector<HTMLElement>('h1');
  if (!main || !heading) return;
  isAwaited = false;
  const at = document.activeElement;
  if ((at && at !== main && main.contains(at)) || document.querySelector('dialog[open]')) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}

/** Announces that the user went to another screen. */
export function expectScreen(): void {
  isAwaited = true;
  focusHeading();
}

/** Starts to restore the focus whenever it is lost. */
export function watchFocus(): void {
  document.addEventListener('focusin', remember);
  new MutationObserver(restoreFocus).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled', 'class', 'open'] });
}

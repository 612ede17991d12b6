/**
 * The focus is never lost. What has it may go away or be disabled: a question that was answered, a screen that was left.
 * Then it goes to the nearest place around that is still there, and back to what was disabled once that can be used again.
 */

/** Where the focus may rest; a part of the page can name a better place inside of it. */
const HOME = 'dialog[open], [data-region], [data-focus]';

let last: HTMLElement | null = null;
/** Whether it came there by keyboard. Others need no field to type in, and on a phone it would bring up the keys. */
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
  const wanted = isKeyed && home.dataset.focus;
  const inner = wanted ? home.querySelector<HTMLElement>(wanted) : null;
  const to = inner && isUsable(inner) ? inner : home;
  if (to === home && !home.hasAttribute('tabindex')) home.tabIndex = -1;
  if (from.isConnected) borrowed = { from, to };
  to.focus({ preventScroll: true });
}

/** Whether a screen is on its way, whose heading is to have the focus. */
let isAwaited = false;

/** The focus goes to the heading of a new screen, so that it is told and read from there; unless it is in the screen already. */
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

/** Somebody went to another screen. */
export function expectScreen(): void {
  isAwaited = true;
  focusHeading();
}

/** Watches over the focus of the page. */
export function watchFocus(): void {
  document.addEventListener('focusin', remember);
  new MutationObserver(restoreFocus).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['disabled', 'class', 'open'] });
}

// Detects key events that the page must not handle: keys for a text field, a dialog, a menu or the browser.

export function isHandledElsewhere(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, defaultPrevented, target } = event
  return ctrlKey || metaKey || altKey || defaultPrevented || isTyping(target) || isCovered()
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}

/** Closed menus are in the document too, but not visible. */
const isCovered = (): boolean =>
  [...document.querySelectorAll('[role=dialog], [role=menu], [role=listbox]')].some((one) =>
    one.checkVisibility(),
  )

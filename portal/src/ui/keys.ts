// Whether a key is meant for the page: not while somebody types, not with a modifier, not behind a dialog or a menu.

export function isElsewhere(event: KeyboardEvent): boolean {
  const { ctrlKey, metaKey, altKey, defaultPrevented, target } = event
  return ctrlKey || metaKey || altKey || defaultPrevented || isTyping(target) || isCovered()
}

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}

/** Choices that are not open are in the page as well, and not seen. */
const isCovered = (): boolean =>
  [...document.querySelectorAll('[role=dialog], [role=menu], [role=listbox]')].some((one) =>
    one.checkVisibility(),
  )

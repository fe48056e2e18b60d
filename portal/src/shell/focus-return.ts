// Returns the focus from a dialog or menu that is gone to the element that had it before (WCAG 2.4.3). The library does so only for dialogs that stay
// in the page while they are closed; many are rendered when they open.
import { useEffect } from 'react'

const dialogOf = (element: Element): Element | null => element.closest('[role=dialog], [role=menu]')

/** An element that was rendered again meanwhile is found by its name. */
const shownNow = (element: HTMLElement): HTMLElement | null =>
  element.isConnected || element.ariaLabel === null
    ? element
    : document.querySelector(`${element.localName}[aria-label="${CSS.escape(element.ariaLabel)}"]`)

export function useFocusReturn(): void {
  useEffect(() => {
    let last: HTMLElement | undefined
    /** The element that had the focus before each dialog. */
    const openers = new WeakMap<Element, HTMLElement>()
    function onFocus({ target }: FocusEvent) {
      if (!(target instanceof HTMLElement)) return
      const dialog = dialogOf(target)
      if (dialog && last && !dialog.contains(last) && !openers.has(dialog)) openers.set(dialog, last)
      last = target
    }
    function giveBack() {
      if (last?.isConnected !== false || document.activeElement !== document.body) return
      const dialog = dialogOf(last)
      const opener = dialog ? openers.get(dialog) : undefined
      last = undefined
      if (opener) shownNow(opener)?.focus({ preventScroll: true })
    }
    // What follows the dialog may take the focus itself, such as another dialog.
    const observer = new MutationObserver(() => setTimeout(giveBack))
    document.addEventListener('focusin', onFocus)
    observer.observe(document.body, { subtree: true, childList: true })
    return () => {
      document.removeEventListener('focusin', onFocus)
      observer.disconnect()
    }
  }, [])
}

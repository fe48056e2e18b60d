// Marks the page of a list that takes the remaining height, and the elements between them, for the style sheets.
import { useLayoutEffect, type RefObject } from 'react'

export function useRemainingHeight(list: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const page = list.current?.closest<HTMLElement>('[data-page]')
    if (!page) return undefined
    const between: HTMLElement[] = []
    for (let one = list.current!.parentElement; one && one !== page; one = one.parentElement)
      between.push(one)
    page.dataset['filled'] = ''
    for (const one of between) one.dataset['around'] = ''
    return () => {
      delete page.dataset['filled']
      for (const one of between) delete one.dataset['around']
    }
  }, [list])
}

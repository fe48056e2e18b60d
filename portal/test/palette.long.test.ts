// The command palette lists every action of every page. palette.test.ts has the rest.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { skipWithoutBrowser, visit } from './browser.ts'
import { useExample } from './example-suite.ts'
import { placesOfMembers } from './places.ts'

describe('the command palette', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  it('has every action of a page, by its words', async () => {
    await using person = await example.open({ reducedMotion: 'reduce' })
    const { page, pageErrors } = person
    await page.goto(example.server.url)
    const field = page.getByRole('dialog').getByPlaceholder('Search or jump to…')
    const missing: string[] = []
    let count = 0
    for (const place of placesOfMembers) {
      await visit(page, place)
      const names = actionsIn(await page.locator('[data-page]').ariaSnapshot())
      await page.keyboard.press('Control+k')
      const listed: string[] = []
      // Before anything is typed only the first ones are listed.
      for (const letter of vowels) {
        await field.fill(letter)
        listed.push(...(await page.getByRole('dialog').getByRole('button').allInnerTexts()))
      }
      const labels = new Set(listed.map((text) => text.split('\n')[0]))
      missing.push(...names.filter((name) => !labels.has(name)).map((name) => `${place}: ${name}`))
      count += names.length
      await page.keyboard.press('Escape')
      await field.waitFor({ state: 'detached' })
    }
    assert.deepEqual(missing, [])
    assert.ok(count > 150, `${count} actions`)
    assert.deepEqual(pageErrors, [])
  })
})

const vowels = ['a', 'e', 'i', 'o', 'u'] as const

/** Returns the accessible names of buttons and tabs outside of rows that occur once, and can be pressed. */
function actionsIn(snapshot: string): readonly string[] {
  const names: string[] = []
  let rowAt = Infinity
  for (const line of snapshot.split('\n')) {
    const [, indent = '', role, name, state = ''] = /^( *)- '?(\w+)(?: "(.*?)")?(.*)$/.exec(line) ?? []
    if (indent.length <= rowAt) rowAt = role === 'row' ? indent.length : Infinity
    if (rowAt !== Infinity || (role !== 'button' && role !== 'tab') || !name) continue
    if (!/\[(disabled|selected|pressed)/.test(state)) names.push(name)
  }
  return names.filter((name) => !isListedOtherwise(name) && names.indexOf(name) === names.lastIndexOf(name))
}

/**
 * The items of the menu are listed; an entry of a legend shows or hides its series; cells of a grid are many; a field for a file is no button of
 * the page.
 */
const isListedOtherwise = (name: string): boolean =>
  ['More actions', 'Zone file', 'Letter of authorization (LOA/CFA)'].includes(name) ||
  / max |: no name$/.test(name)

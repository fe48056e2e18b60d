// Every page of the portal for members with other roles than admin: pages request nothing and offer no button that the server refuses. The
// example server refuses what the roles do not grant, by the table of the contract.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Role } from '@pharos/contract/role'
import type { Page } from 'playwright-core'
import { settled, skipWithoutBrowser, visit } from './browser.ts'
import { admin } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { placesOfMembers } from './places.ts'

const modules = ['inventory', 'ipam', 'lighthouse', 'shield', 'dns']
const places = [
  ...placesOfMembers.filter((place) => !place.startsWith('/profile')),
  '/events/1',
  '/team/members',
  '/team/webhooks/1',
]

/** Buttons that begin a change of the team; a form or a draft sends its request later. */
const changing =
  /^(announce|withdraw|check again|edit|add|invite|delete|remove|restore|import|upload|create|apply|save|roll back|acknowledge|comment|revoke|rotate|enable|disable|verify)\b/i

/** Buttons that change something for the user alone, such as a view of a list or the groups of a chart. */
const personal = /\b(view|filter|column|protocol|remote asn)s?\b/i

describe('the pages of the portal', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  async function openAs(roles: readonly Role[]) {
    example.server.reset()
    example.server.user = { ...admin, enabled_modules: modules }
    example.server.roles = roles
    const person = await example.open({ reducedMotion: 'reduce' })
    await person.page.goto(example.server.url)
    return person
  }

  for (const role of ['reader', 'dns', 'billing'] as const)
    it(`request nothing that the role ${role} does not grant`, async () => {
      await using person = await openAs([role])
      const found = new Set<string>()
      for (const place of places) {
        await visit(person.page, place)
        for (const name of example.server.refused.slice(found.size)) found.add(`${place}: ${name}`)
      }
      assert.deepEqual([...found], [])
    })

  it('offer a reader nothing to change', async () => {
    await using person = await openAs(['reader'])
    const found: string[] = []
    for (const place of places) {
      await visit(person.page, place)
      found.push(...(await offered(person.page)).map((label) => `${place}: ${label}`))
    }
    assert.deepEqual([...new Set(found)], [])
  })

  it('offer an admin what a reader is not offered', async () => {
    await using person = await openAs(['admin'])
    const found = new Set<string>()
    for (const place of places) {
      await visit(person.page, place)
      for (const label of await offered(person.page)) found.add(label)
    }
    assert.ok(found.size > 10, [...found].join(', '))
  })
})

/** Returns the labels of the enabled buttons that change something, those of menus among them. */
async function offered(page: Page): Promise<string[]> {
  const labels = async () => {
    const found = page.locator(
      ':is(main button:not([role=tab]), main a, [role=menu] [role=menuitem]):visible:not([disabled]):not([data-disabled]):not([aria-disabled=true])',
    )
    return (await found.evaluateAll((all) =>
      all.map((one) => (one.getAttribute('aria-label') ?? one.textContent ?? '').trim()),
    )) as string[]
  }
  const menus = page.locator('main button[aria-haspopup=menu]:visible')
  const all = await labels()
  for (let at = 0; at < Math.min(await menus.count(), 3); at++) {
    await menus.nth(at).click()
    await settled(page)
    all.push(...(await labels()))
    await page.keyboard.press('Escape')
  }
  return [...new Set(all)].filter((label) => changing.test(label) && !personal.test(label))
}

// The pictures of the README and of docs/shield.md, taken from the demo during an attack, which takes eight minutes:
//
//   node portal/test/readme-pictures.ts
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { listRelatedEventsRoute } from '@pharos/contract/events/event'
import { suggestShieldRulesRoute } from '@pharos/contract/shield/suggestion'
import { updateShieldRulesRoute } from '@pharos/contract/shield/shield'
import type { Page } from 'playwright-core'
import { openBrowser, settled, signIn, waitMs } from './browser.ts'
import { Demo } from './demo.ts'
import { asUser } from './sample-data.ts'
import { fillDns } from './sample-dns.ts'

const folder = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const width = 1440
/** The attack of the demo begins a minute after its start. */
const attackWaitMs = 180_000
/** Long enough for a curve. */
const curveMs = 240_000
const hitsMs = 60_000

type Call = Awaited<ReturnType<typeof asUser>>

async function main(): Promise<void> {
  const demo = new Demo({ traffic: true })
  const browser = await openBrowser()
  try {
    await demo.start()
    const signedIn = () => asUser(demo.url, 'demo@demo.example')
    await fillDns(await signedIn())
    const context = await browser.newContext({ timezoneId: 'UTC', colorScheme: 'light' })
    context.setDefaultTimeout(waitMs)
    const page = await context.newPage()
    await signIn(page, demo.url, 'demo@demo.example')
    const shoot = async (
      name: string,
      path: string,
      height: number,
      act?: (page: Page) => Promise<unknown>,
    ) => {
      await page.setViewportSize({ width, height })
      await page.goto(demo.url + path)
      await settled(page)
      await act?.(page)
      await settled(page)
      await page.screenshot({ path: `${folder}${name}.png` })
    }
    const event = await ongoingAttack(await signedIn())
    await shoot('port', '/ports/5', 1300)
    await shoot('zone', '/zones/demo-networks.example', 1000, draftRecords)
    await sleep(curveMs)
    await shoot('overview', '/', 1000)
    await shoot('traffic', '/traffic?by=service_port&direction=in&range=1h', 1000)
    // The access token of the beginning has expired.
    const prefix = await applySuggestion(await signedIn(), event)
    await sleep(hitsMs)
    await shoot('shield', `/shield/rules?prefix=${encodeURIComponent(prefix)}`, 1000)
    await shoot('attack', `/events/${event}`, 1300)
  } finally {
    await browser.close()
    await demo.stop()
  }
}

/** Returns the id of the attack that the detector has found in the demo's flows. */
async function ongoingAttack(call: Call): Promise<string> {
  for (const begun = performance.now(); performance.now() - begun < attackWaitMs; await sleep(1_000)) {
    const { body } = await call(listRelatedEventsRoute, {
      query: { ongoing: true, source_key: ['flow-detector'], ordering: '-start', limit: 1 },
    })
    const [event] = body.results
    if (event) return event.id
  }
  throw new Error('no attack was found')
}

/** Returns the prefix of the list. */
async function applySuggestion(call: Call, id: string): Promise<string> {
  const { body } = await call(suggestShieldRulesRoute, { params: { event_id: id }, body: {} })
  const { prefix, rules, version } = body
  if (prefix === null) throw new Error('no rules were suggested')
  await call(updateShieldRulesRoute, { body: { prefix, rules, version, confirm_within: 300 } })
  return prefix
}

async function draftRecords(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit www/A', exact: true }).click()
  await page.getByLabel('Values, one per line').fill('203.0.113.10\n203.0.113.12')
  await page.getByRole('button', { name: 'Delete blog/CNAME', exact: true }).click()
  await page.getByRole('button', { name: 'Review changes' }).click()
  await page.getByRole('dialog').waitFor()
}

await main()

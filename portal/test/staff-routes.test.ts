// What staff see of routes: routers that regions no longer have, with what can be done about them, and how far each route gets.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { listAdminRegionsRoute, type AdminRegion } from '@pharos/contract/operator/region'
import {
  getAnnouncementRoute,
  listAnnouncementsOfTeamRoute,
  type RegionEvidence,
  type RegionStateOfAnnouncement,
} from '@pharos/contract/byoip/announcement'
import { giveUpFormerRouterRoute, listFormerRoutersRoute } from '@pharos/contract/byoip/former-router'
import { sessionReasons, sessionReasonText } from '@pharos/contract/reason/session-reason'
import { settled, skipWithoutBrowser } from './browser.ts'
import { admin, exampleOf, staff } from './example-server.ts'
import { useExample } from './example-suite.ts'

describe('routes for staff', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  it('name former routers with the routes that are left, and give one up after a question', async () => {
    example.server.reset()
    example.server.user = staff
    const read = { ...exampleOf(listFormerRoutersRoute).results[0]!, routes: 12 }
    const unread = { ...read, id: 4, name: 'fra4', last_check: null, error: null, routes: 1200 }
    let routers = [read, unread]
    example.server.answer(listFormerRoutersRoute, () => ({ results: routers, count: routers.length }))
    example.server.answer(giveUpFormerRouterRoute, ({ params }) => {
      const given = routers.find(({ id }) => id === Number(params.former_router_id))
      routers = routers.filter((one) => one !== given)
      return { ...given!, routes: 0 }
    })
    await using person = await example.open()
    const { page, pageErrors } = person
    await page.goto(`${example.server.url}/staff/regions`)
    const section = page.getByRole('region', { name: 'Former routers' })
    const row = section.getByRole('row').filter({ hasText: 'fra3' })
    await row.getByRole('cell', { name: '12', exact: true }).waitFor()
    await row.getByText('gobgp 192.0.2.7:50051 64500:1:1').waitFor()
    await row.getByText('gobgpd at 192.0.2.7:50051: no connection').waitFor()
    assert.equal(await row.locator('time').first().getAttribute('datetime'), read.since)
    const other = section.getByRole('row').filter({ hasText: 'fra4' })
    await other.getByRole('cell', { name: 'Up to 1,200', exact: true }).waitFor()
    await other.getByRole('cell', { name: 'Never', exact: true }).waitFor()
    await row.getByRole('button', { name: 'Give up former router fra3 of fra' }).click()
    const dialog = page.getByRole('dialog', { name: 'Give up former router fra3 of fra?' })
    await dialog.getByText('Its 12 routes count as withdrawn.').waitFor()
    await dialog.getByRole('button', { name: 'Give up', exact: true }).click()
    await row.waitFor({ state: 'detached' })
    assert.deepEqual(
      example.server.asked(giveUpFormerRouterRoute).map(({ params }) => Number(params.former_router_id)),
      [read.id],
    )
    routers = []
    await section.waitFor({ state: 'detached' })
    assert.deepEqual(pageErrors, [])
  })
  it('show staff how many neighbors hear a route, and why each session is down, and nobody else', async () => {
    example.server.reset()
    const announcement = exampleOf(getAnnouncementRoute)
    const evidence: Record<string, RegionEvidence | null> = {
      all: { level: 'advertised', heard: 2, neighbors: 2, unchecked: 0 },
      some: { level: 'advertised', heard: 1, neighbors: 3, unchecked: 1 },
      best: { level: 'best', heard: 0, neighbors: 2, unchecked: 0 },
      silent: { level: 'best', heard: 0, neighbors: 0, unchecked: 0 },
      rib: { level: 'rib', heard: 0, neighbors: 0, unchecked: 0 },
      nowhere: null,
    }
    const states = Object.keys(evidence).map((region): RegionStateOfAnnouncement => ({
      ...announcement.region_states![0]!,
      region,
    }))
    example.server.answer(getAnnouncementRoute, () => ({ ...announcement, region_states: states }))
    const heard = states.map((state) => ({ ...state, heard_by: evidence[state.region]! }))
    // Another announcement of an overlapping prefix has other evidence.
    const other = {
      ...announcement,
      id: announcement.id + 1,
      region_states: [{ ...heard[0]!, region: 'best' }],
    }
    example.server.answer(listAnnouncementsOfTeamRoute, () => ({
      results: [other, { ...announcement, region_states: heard }],
      count: 2,
    }))
    const [region] = exampleOf(listAdminRegionsRoute).results
    const [router] = region!.routers
    const [neighbor] = router!.neighbors
    const down = sessionReasons.map((reason, at) => ({
      ...neighbor!,
      address: `192.0.2.${at + 1}`,
      state: 'idle' as const,
      end: { reason, message: sessionReasonText(reason, null), detail: null },
    }))
    const unknown = { ...neighbor!, address: '192.0.2.99', state: 'active' as const, end: null }
    const regions: AdminRegion[] = [
      { ...region!, slug: 'all', routers: [{ ...router!, neighbors: [neighbor!] }] },
      { ...region!, slug: 'some', routers: [{ ...router!, neighbors: [...down, unknown] }] },
      {
        ...region!,
        slug: 'nowhere',
        routers: [
          { ...router!, name: 'r8', last_check_result: false, error: 'no connection' },
          { ...router!, name: 'r9', drained: '2026-04-01T22:00:04.118Z', last_check_result: false },
        ],
      },
    ]
    example.server.answer(listAdminRegionsRoute, () => ({ results: regions, count: regions.length }))
    const notesOf = async (user: typeof staff) => {
      example.server.user = user
      await using person = await example.open()
      const { page, pageErrors } = person
      await page.goto(`${example.server.url}/announcements/${announcement.id}?tab=regions`)
      await page.getByRole('row').filter({ hasText: 'nowhere' }).waitFor()
      if (user.is_staff) await page.getByText('Router r8 cannot be read: no connection').waitFor()
      await settled(page)
      const texts: Record<string, string[]> = {}
      for (const slug of Object.keys(evidence)) {
        const row = page.getByRole('row').filter({ has: page.getByText(slug, { exact: true }) })
        texts[slug] = await row
          .getByRole('note', { name: 'Shown to staff only' })
          .locator('p')
          .allInnerTexts()
      }
      assert.deepEqual(pageErrors, [])
      return texts
    }
    const session = (reason: string, at: number) =>
      `Session of ${router!.name} with 192.0.2.${at} AS${neighbor!.asn} is down${reason}`
    assert.deepEqual(await notesOf(staff), {
      all: ['Heard by 2 of 2 neighbors'],
      some: [
        'Heard by 1 of 3 neighbors, 1 not checked yet',
        ...sessionReasons.map((reason, at) => session(`: ${sessionReasonText(reason, null)}`, at + 1)),
        session(', for an unknown reason', 99),
      ],
      best: ['Heard by 0 of 2 neighbors'],
      silent: ['Heard by no neighbor: no session is established'],
      rib: ['On the routers, but not their best path'],
      nowhere: ['Router r8 cannot be read: no connection'],
    })
    const none = Object.fromEntries(Object.keys(evidence).map((slug) => [slug, []]))
    const before = example.server.asked(listAdminRegionsRoute).length
    assert.deepEqual(await notesOf(admin), none)
    // Nothing is asked for that the server would refuse.
    assert.equal(example.server.asked(listAdminRegionsRoute).length, before)
  })
})

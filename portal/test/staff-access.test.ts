// Staff in the portal: the team of a customer is opened with a reason and closed again, and what a staff role does not permit is not
// offered. The example server refuses what the tables of the contract do not grant.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { closeStaffAccessRoute, createSessionTokenRoute } from '@pharos/contract/session/session'
import { getCustomerRoute } from '@pharos/contract/operator/team'
import { staffRoles, type StaffRole } from '@pharos/contract/staff-role'
import type { Page } from 'playwright-core'
import { shoot, skipWithoutBrowser, visit } from './browser.ts'
import { enterTeam } from './enter-team.ts'
import { exampleOf, otherTeam, staff } from './example-server.ts'
import { useExample } from './example-suite.ts'
import { placesOfStaff } from './places.ts'

const modules = ['inventory', 'ipam', 'lighthouse', 'shield', 'dns']

describe('staff', { skip: skipWithoutBrowser() }, () => {
  const example = useExample()

  async function openAs(roles: readonly StaffRole[]) {
    example.server.reset()
    example.server.user = { ...staff, enabled_modules: modules }
    example.server.staffRoles = roles
    example.server.answer(getCustomerRoute, () => ({ ...exampleOf(getCustomerRoute), ...otherTeam }))
    const person = await example.open({ reducedMotion: 'reduce' })
    await person.page.goto(example.server.url)
    return person
  }

  const customer = `/staff/customers/${otherTeam.id}`
  const bannerOf = (page: Page) =>
    page.getByRole('status').filter({ hasText: `You are in ${otherTeam.name}` })

  const createZone = (page: Page) => page.locator('main').getByText('Create zone', { exact: true })

  it('open the team of a customer with a reason, see why and how long, and close it', async () => {
    await using person = await openAs(['admin'])
    const { page } = person
    await visit(page, customer)
    await page.getByRole('button', { name: 'Open team' }).click()
    const dialog = page.getByRole('dialog', { name: `Open the team ${otherTeam.name}` })
    await dialog.getByLabel('Reason').fill('too short')
    await dialog.getByRole('button', { name: 'Open team' }).click()
    await dialog.getByText(/at least 10 characters/).waitFor()
    await shoot(page, 'staff-enter')
    await dialog.getByLabel('Reason').fill('The announcement is not visible, as reported.')
    await dialog.getByLabel('Ticket').fill('NOC-4711')
    await dialog.getByRole('button', { name: 'Open team' }).click()
    const banner = bannerOf(page)
    await banner.getByText('The announcement is not visible, as reported. (NOC-4711)').waitFor()
    await banner.getByText(/Reading only\. /).waitFor()
    await shoot(page, 'staff-in-team')
    const { body } = example.server.asked(createSessionTokenRoute).at(-1)!
    assert.deepEqual(body, {
      team_id: otherTeam.id,
      reason: 'The announcement is not visible, as reported.',
      ticket: 'NOC-4711',
      change: false,
      hours: 1,
    })
    // Only what reads is offered.
    await visit(page, '/zones')
    await page.getByRole('heading', { name: 'Zones' }).waitFor()
    assert.equal(await createZone(page).count(), 0)
    await banner.getByRole('button', { name: 'Close access' }).click()
    await page.waitForURL(`**${customer}`)
    await banner.waitFor({ state: 'detached' })
    assert.deepEqual(example.server.asked(closeStaffAccessRoute).at(-1)!.body, { team_id: otherTeam.id })
  })

  it('may change something with the rights of their role, if they ask for it', async () => {
    await using person = await openAs(['noc'])
    const { page } = person
    await visit(page, customer)
    await enterTeam(page, { change: true })
    await bannerOf(page)
      .getByText(/Changes apply to the customer\. /)
      .waitFor()
    await visit(page, '/zones')
    await createZone(page).first().waitFor()
    await visit(page, '/team/tokens')
    await page.getByText('Needs the staff role Admin.').waitFor()
    assert.deepEqual(example.server.refused, [])
  })

  it('are asked for a reason once the access has ended, on the pages of the team only', async () => {
    await using person = await openAs(['admin'])
    const { page } = person
    await visit(page, customer)
    await enterTeam(page)
    await bannerOf(page).waitFor()
    // The example server forgets the access, as after its end.
    example.server.endAccess()
    await visit(page, '/zones')
    await page.getByText('You need a reason to open this team').waitFor()
    await shoot(page, 'staff-access-ended')
    await visit(page, '/staff/customers')
    await page.getByRole('heading', { name: 'Customers' }).waitFor()
    await visit(page, '/zones')
    await enterTeam(page)
    await bannerOf(page).waitFor()
  })

  for (const role of staffRoles)
    it(`with the role ${role} are shown nothing that the role does not permit`, async () => {
      await using person = await openAs([role])
      const { page } = person
      const found = new Set<string>()
      for (const place of ['/', ...placesOfStaff]) {
        await visit(page, place)
        for (const name of example.server.refused.slice(found.size)) found.add(`${place}: ${name}`)
      }
      assert.deepEqual([...found], [])
      await visit(page, '/staff/customers')
      const link = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true })
      const [inbox, accesses] = [await link('Regions').count(), await link('Staff access').count()]
      assert.deepEqual([inbox > 0, accesses > 0], [role !== 'billing', role === 'admin'])
      await visit(page, '/staff/customers/1')
      const suspends = await page.getByRole('button', { name: /^Suspend / }).count()
      assert.equal(suspends > 0, role === 'noc' || role === 'admin')
    })
})

// DNS in a real browser with the real server: a zone is created, its records are edited with a plan and undone, a zone file is
// imported, DNSSEC shows the DS record, reverse DNS is named in a grid, and a zone is deleted and restored.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { getZoneSettingsRoute, updateZoneSettingsRoute } from '@pharos/contract/dns/settings'
import type { Browser, Page } from 'playwright-core'
import { axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, shoot, skipWithoutBrowser } from './browser.ts'
import { Demo } from './demo.ts'
import { answered, intercept, refused } from './intercept.ts'
import { asUser } from './sample-data.ts'

const name = 'orchard.example'

describe('DNS in the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo()
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  const person = (email = 'demo@demo.example') => openPerson(browser, demo.url, email)
  const without422 = (pageErrors: readonly string[]) =>
    pageErrors.filter((error) => !/status of (409|422)/.test(error))
  const openZone = async (page: Page, tab?: string) => {
    await page.goto(`${demo.url}/zones`)
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    if (tab) await page.getByRole('tab', { name: tab }).click()
  }
  const region = (page: Page, title: string) => page.getByRole('region', { name: title, exact: true })

  it('creates a zone from the empty list, with errors at the field', async () => {
    const { context, page, pageErrors } = await person()
    // The demo has zones; a new team has no zone.
    await using none = await intercept(page, '**/v3/dns/zones?**', answered({ results: [], count: 0 }))
    await page.goto(`${demo.url}/zones`)
    await page.getByRole('heading', { name: 'No zones yet' }).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await none.stop()
    await page.getByRole('main').getByRole('link', { name: 'Create zone' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('not a name..')
    await page.getByRole('button', { name: 'Create zone' }).click()
    await page.locator('[data-field=name][data-field-error]').waitFor()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('button', { name: 'Create zone' }).click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('edits records in the table, shows the plan, applies and undoes it', async () => {
    const { context, page, pageErrors } = await person()
    await openZone(page)
    const names = page.getByLabel('Name of the record set')
    const values = page.getByLabel('Values, one per line')
    await page.getByRole('button', { name: 'Add record' }).click()
    await names.first().fill('www')
    await values.first().fill('192.0.2.1\n192.0.2.2')
    await page.getByRole('button', { name: 'Add record' }).click()
    await names.nth(1).fill('mail')
    await page.getByLabel('Type of the record set').nth(1).fill('MX')
    await values.nth(1).fill('ten mx.example.net.')
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByText('1 row needs a correction').waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    assert.equal(await values.nth(1).getAttribute('aria-invalid'), 'true')
    await values.nth(1).fill('10 mx.example.net.')
    await page.getByRole('button', { name: 'Review changes' }).click()
    const plan = page.getByRole('dialog', { name: 'Review changes' })
    await plan.getByText('2 added, 0 changed, 0 deleted').waitFor()
    await settled(page)
    await shoot(page, 'dns-plan')
    assert.deepEqual(await axeViolations(page), [])
    await plan.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(/^Version \d+ published: 2 record sets changed\.$/).waitFor()
    await page.getByRole('button', { name: 'Edit www/A' }).click()
    await values.fill('192.0.2.9')
    await page.getByRole('combobox', { name: 'TTL of the record set' }).fill('5m')
    await page.getByRole('button', { name: 'Delete mail/MX' }).click()
    await page.getByText('2 changes not applied').waitFor()
    await page.getByRole('button', { name: 'Review changes' }).click()
    await plan.getByText('0 added, 1 changed, 1 deleted').waitFor()
    await plan.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('row').filter({ hasText: '192.0.2.9' }).getByText('5 min').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('row').filter({ hasText: '192.0.2.2' }).waitFor()
    await page.getByRole('row').filter({ hasText: '10 mx.example.net.' }).waitFor()
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('is used by the keyboard: rows by arrows, edit in place, what is wrong as soon as a row is left', async () => {
    const { context, page, pageErrors } = await person()
    await openZone(page)
    await page.getByRole('button', { name: 'Edit mail/MX' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const values = page.getByLabel('Values, one per line')
    await page.waitForFunction(() => document.activeElement?.tagName === 'TEXTAREA')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('192.0.2.300')
    await page.getByRole('textbox', { name: 'Search names and values' }).focus()
    await page.getByText(/^Address: not an IPv4 address/).waitFor()
    await page.getByText('1 row needs a correction').waitFor()
    await values.focus()
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => document.activeElement?.getAttribute('aria-label') === 'Edit www/A')
    await page.getByRole('tab', { name: 'DNSSEC' }).click()
    await page.getByRole('tab', { name: 'Records (1 changed)' }).click()
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByRole('row').filter({ hasText: '192.0.2.2' }).waitFor()
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('shows what to do about a name of another customer, and creates the zone once the record is found', async () => {
    const { context, page, pageErrors } = await person()
    const record = {
      record_name: '_pharos-challenge.shop.example',
      record_value: 'pharos-domain-verification=x',
    }
    let isVerified = false
    const claimed = refused(409, 'zone_claimed', {
      errors: [{ loc: ['body', 'name'], msg: 'is held', type: 'zone_claimed', ctx: record }],
    })
    await using claim = await intercept(page, '**/v3/dns/zones', claimed)
    await using _ = await intercept(page, '**/v3/teams/current/domains/*/verify', (route) =>
      route.fulfill({
        json: {
          verified: isVerified ? new Date().toISOString() : null,
          last_check_result: isVerified ? 'valid' : 'missing',
        },
      }),
    )
    await page.goto(`${demo.url}/zones/new`)
    await page.getByLabel('Name', { exact: true }).fill('shop.example')
    await page.getByRole('button', { name: 'Create zone' }).click()
    await page.getByText(record.record_name).waitFor()
    await page.getByRole('button', { name: 'Copy text of the record' }).waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Check record' }).click()
    await page.getByText(/^The record was not found yet/).waitFor()
    // The record belongs to the submitted name.
    await page.getByLabel('Name', { exact: true }).fill('shops.example')
    await page.getByText(record.record_name).waitFor({ state: 'detached' })
    await page.getByLabel('Name', { exact: true }).fill('shop.example')
    await page.getByRole('button', { name: 'Create zone' }).click()
    await claim.stop()
    isVerified = true
    await page.getByRole('button', { name: 'Check record' }).click()
    await page.getByRole('heading', { name: 'shop.example', level: 1 }).waitFor()
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('imports by transfer from a name server, and says why one does not hand the zone out', async () => {
    const { context, page, pageErrors } = await person()
    await page.goto(`${demo.url}/zones/import`)
    await page.getByLabel('Zone', { exact: true }).fill('moved.example')
    await page.getByRole('radio', { name: 'Name server (zone transfer)' }).check()
    await page.getByRole('textbox', { name: 'Name server' }).fill('127.0.0.1')
    await page.getByRole('textbox', { name: 'Port' }).fill(String(demo.dnsPort))
    await page.getByRole('button', { name: 'Transfer and check' }).click()
    await page.getByText(/^Name server must hand out the zone/).waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    // The built-in name server hands out a zone of the demo to this host.
    const call = await asUser(demo.url, 'demo@demo.example')
    const params = { zone: 'harbor.example' }
    const { body: settings } = await call(getZoneSettingsRoute, { params })
    await call(updateZoneSettingsRoute, { params, body: { ...settings, allow_transfer: ['127.0.0.1'] } })
    await page.goto(`${demo.url}/zones/harbor.example?tab=import`)
    await page.getByRole('radio', { name: 'Name server (zone transfer)' }).check()
    await page.getByRole('textbox', { name: 'Name server' }).fill('127.0.0.1')
    await page.getByRole('textbox', { name: 'Port' }).fill(String(demo.dnsPort))
    await page.getByRole('button', { name: 'Transfer and check' }).click()
    await page.getByText('Nothing changes: the zone is as requested already.').waitFor()
    await page.getByText('3 lines not applied').waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('asks before changes of records are lost', async () => {
    const { context, page } = await person()
    await openZone(page)
    await page.getByRole('button', { name: 'Delete www/A' }).click()
    await page.getByRole('navigation').getByText('Attacks', { exact: true }).first().click()
    await page
      .getByRole('dialog', { name: 'Discard changes?' })
      .getByRole('button', { name: 'Keep editing' })
      .click()
    await page.getByRole('button', { name: 'Discard', exact: true }).click()
    await page.getByRole('navigation').getByText('Attacks', { exact: true }).first().click()
    await page.getByRole('heading', { name: 'Attacks', level: 1 }).waitFor()
    await context.close()
  })

  it('imports a zone file that is dropped, with the errors and ignored lines of its report', async () => {
    const { context, page, pageErrors } = await person()
    await openZone(page, 'Import and export')
    const text = page.getByLabel('Text of the zone file')
    await text.fill('www 300 IN A 192.0.2.300\n')
    await page.getByRole('button', { name: 'Check file' }).click()
    await page.getByText('1 error in the file').waitFor()
    await region(page, 'Report').getByRole('cell', { name: '1', exact: true }).waitFor()
    const file = await page.evaluateHandle((content) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([content], 'orchard.zone', { type: 'text/plain' }))
      return transfer
    }, '@ 3600 IN SOA ns. h. 1 2 3 4 5\nftp 300 IN A 192.0.2.21\n')
    await page.locator('[data-drop]').dispatchEvent('drop', { dataTransfer: file })
    await page.getByRole('button', { name: 'Check file' }).click()
    await page.getByText('1 line not applied').waitFor()
    await region(page, 'Report').getByText('1 added, 0 changed, 0 deleted').waitFor()
    await settled(page)
    await shoot(page, 'dns-import')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Apply import' }).click()
    await page.getByRole('row').filter({ hasText: '192.0.2.21' }).waitFor()
    await page.getByRole('tab', { name: 'Import and export' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download zone file' }).click()
    assert.equal((await download).suggestedFilename(), `${name}.zone`)
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('shows the versions with their difference, and rolls back to one', async () => {
    const { context, page, pageErrors } = await person()
    await openZone(page, 'History')
    await page.getByRole('button', { name: 'Changes of version 2' }).click()
    await page
      .getByRole('group', { name: 'Changes' })
      .getByText(/mx\.example\.net/)
      .waitFor()
    await page.getByRole('button', { name: 'Roll back to version 1' }).click()
    const dialog = page.getByRole('dialog', { name: 'Roll back to version 1?' })
    await dialog.getByText(/0 added, 0 changed, 3 deleted/).waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    await dialog.getByRole('button', { name: 'Roll back' }).click()
    await page.getByText('Rolled back').first().waitFor()
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('shows the DS record to copy, and saves settings', async () => {
    const { context, page, pageErrors } = await person()
    await openZone(page, 'DNSSEC')
    await region(page, 'DS records for your registrar').getByText('Digest', { exact: true }).first().waitFor()
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('button', { name: 'Disable DNSSEC' }).click()
    await page
      .getByRole('dialog')
      .getByText(/First delete the DS record/)
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByLabel('Default TTL').fill('7200')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Settings saved.').waitFor()
    await page.getByRole('tab', { name: 'Name servers' }).click()
    // The parent zone of the demo does not answer.
    await region(page, 'At the parent zone').waitFor()
    assert.equal(await region(page, 'At the parent zone').getByText('None seen').count(), 0)
    await settled(page)
    assert.deepEqual(await axeViolations(page), [])
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('names addresses in the grid, by pasted lines and by a template', async () => {
    const { context, page, pageErrors } = await person()
    await page.goto(`${demo.url}/reverse?network=203.0.113.0%2F24`)
    const grid = page.getByRole('group', { name: 'Addresses of 203.0.113.0/24' })
    await grid.getByRole('button', { name: '203.0.113.0: no name' }).focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByLabel('Name of 203.0.113.17', { exact: true }).last().fill('gw.orchard.example')
    await page.keyboard.press('Enter')
    await grid.getByRole('button', { name: '203.0.113.17: gw.orchard.example.' }).waitFor()
    await page.getByRole('button', { name: 'Paste names' }).click()
    const paste = page.getByRole('dialog', { name: 'Paste names' })
    await paste
      .getByLabel('Addresses and names')
      .fill('203.0.113.1 a.orchard.example\n8.8.8.8 b.orchard.example')
    await paste.getByRole('button', { name: 'Check' }).click()
    await paste.getByText(/Line 2: 8\.8\.8\.8/).waitFor()
    await paste.getByLabel('Addresses and names').fill('203.0.113.1 a.orchard.example\n203.0.113.17 -')
    await paste.getByRole('button', { name: 'Check' }).click()
    await paste.getByRole('button', { name: 'Apply 2 changes' }).click()
    await grid.getByRole('button', { name: '203.0.113.17: no name' }).waitFor()
    await settled(page)
    await shoot(page, 'dns-reverse')
    assert.deepEqual(await axeViolations(page), [])
    await page.getByRole('tab', { name: 'Templates' }).click()
    await page.getByRole('button', { name: 'Add template' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add template' })
    await dialog.getByLabel('Network').fill('198.51.100.0/28')
    await dialog.getByLabel('Pattern').fill('{ip-dashed}.pool.orchard.example')
    await dialog.getByText('198-51-100-1.pool.orchard.example').waitFor()
    await dialog.getByRole('button', { name: 'Show effect' }).click()
    await dialog.getByText(/^16 added, 0 changed/).waitFor()
    // The effect follows from the settings in the form.
    await dialog.getByLabel('Network').fill('198.51.100.0/29')
    await dialog.getByText(/^16 added, 0 changed/).waitFor({ state: 'detached' })
    await dialog.getByLabel('Network').fill('198.51.100.0/28')
    await dialog.getByRole('button', { name: 'Apply template' }).click()
    await page.getByRole('cell', { name: '198.51.100.0/28', exact: true }).waitFor()
    assert.deepEqual(without422(pageErrors), [])
    await context.close()
  })

  it('finds the zone in the palette, deletes it by its name, and restores it', async () => {
    const { context, page, pageErrors } = await person()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByPlaceholder('Search or jump to…').fill('orchard.ex')
    await page
      .getByRole('dialog')
      .getByText('ample', { exact: true })
      .or(page.getByRole('dialog').getByText(name))
      .first()
      .click()
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete zone' }).click()
    const dialog = page.getByRole('dialog', { name: `Delete ${name}` })
    await dialog.getByLabel(/Type the name/).fill('orchid.example')
    await dialog.getByRole('button', { name: 'Delete zone' }).click()
    await dialog.getByText(/is not the name of this zone/).waitFor()
    await dialog.getByLabel(/Type the name/).fill(name)
    await dialog.getByRole('button', { name: 'Delete zone' }).click()
    await page.getByRole('heading', { name: 'Zones', level: 1 }).waitFor()
    await page.goto(`${demo.url}/zones?deleted=true`)
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByRole('button', { name: 'Restore zone' }).click()
    await page.getByRole('tab', { name: 'Records' }).waitFor()
    // The page of a deleted zone learns from this answer that it is deleted.
    const others = without422(pageErrors).filter((error) => !/\/zones\/\d+: .*status of 404/.test(error))
    assert.deepEqual(others, [])
    await context.close()
  })
})

// Personal notifications in a browser: the bell, its page, the settings, and the link of a mail that ends them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { assertFits, axeViolations } from './accessibility.ts'
import { openBrowser, openPerson, settled, shoot, skipWithoutBrowser, until } from './browser.ts'
import { ban, Demo } from './demo.ts'

const member = 'demo@demo.example'

describe('notifications in the portal', { skip: skipWithoutBrowser() }, () => {
  const demo = new Demo({ traffic: true })
  let browser: Browser
  before(async () => {
    await demo.start()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await demo.stop()
  })

  const attack = (ip: string) =>
    demo.post(
      '/v3/ingest/events/fastnetmon',
      { ...ban, ip, attack_details: { ...ban.attack_details, attack_uuid: randomUUID() } },
      'Token demo-secret',
    )
  const bell = (page: Page) => page.getByRole('button', { name: /^Notifications/ })
  const unreadOf = async (page: Page) =>
    Number(/, (\d+) unread/.exec((await bell(page).getAttribute('aria-label')) ?? '')?.[1] ?? 0)

  it('ring the bell at an attack without a reload, lead to it, and are marked as read', async (t) => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, member)
    await page.getByRole('status', { name: 'Updates' }).getByText('Live', { exact: true }).waitFor()
    const earlier = await unreadOf(page)
    const began = performance.now()
    await attack('203.0.113.90')
    await until('the bell to ring', async () => assert.ok((await unreadOf(page)) > earlier))
    t.diagnostic(`the bell rang ${Math.round(performance.now() - began)} ms after the delivery`)
    await bell(page).click()
    const latest = page.getByRole('dialog').getByRole('list', { name: 'Latest notifications' })
    const first = latest.getByRole('link', { name: /Attack on 203\.0\.113\.90/ })
    await first.waitFor()
    // The popover covers parts of the links below it, which axe takes for small targets.
    assert.deepEqual(
      (await axeViolations(page)).filter((one) => !one.startsWith('target-size')),
      [],
    )
    await shoot(page, 'bell')
    await first.click()
    await page.waitForURL(/\/events\/\w+/)
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await bell(page).click()
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('fill the screen of a phone', async () => {
    const { context, page } = await openPerson(browser, demo.url, member, {
      viewport: { width: 390, height: 844 },
    })
    await bell(page).click()
    const sheet = page.getByRole('dialog', { name: 'Notifications' })
    await sheet.getByRole('link', { name: 'All notifications' }).waitFor()
    await page.waitForFunction(() => document.getAnimations().every((one) => !(one instanceof CSSTransition)))
    assert.equal((await sheet.boundingBox())?.height, 844)
    await assertFits(page, 'bell', 390)
    await sheet.getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('heading', { name: 'Notification settings' }).waitFor()
    await context.close()
  })

  it('are listed on their own page, and filtered by state', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, member)
    await page.goto(`${demo.url}/notifications`)
    await page
      .getByRole('row')
      .filter({ hasText: /203\.0\.113\.90/ })
      .first()
      .waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await page.goto(`${demo.url}/notifications?unread=true`)
    await page.getByText('No notifications match these filters').waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('keep their settings, with rates in units', async () => {
    const { context, page, pageErrors } = await openPerson(browser, demo.url, member)
    await page.goto(`${demo.url}/profile`)
    await page.getByRole('link', { name: 'Notification settings' }).click()
    const rate = page.getByRole('textbox', { name: /^Bit rate of at least/ })
    const unit = page.getByRole('combobox', { name: 'Unit of bit rate of at least' })
    assert.deepEqual([await rate.inputValue(), await unit.inputValue()], ['1', 'Gbps'])
    await rate.fill('2.5')
    await page.getByRole('switch', { name: 'Letter expires' }).click({ force: true })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.reload()
    await settled(page)
    assert.deepEqual([await rate.inputValue(), await unit.inputValue()], ['2.5', 'Gbps'])
    assert.equal(await page.getByRole('switch', { name: 'Letter expires' }).isChecked(), false)
    assert.equal(await page.getByRole('heading', { name: 'Work for the provider' }).count(), 0)
    assert.deepEqual(await axeViolations(page), [])
    await shoot(page, 'notification-settings')
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('show staff the settings of their work', async () => {
    const { context, page } = await openPerson(browser, demo.url, 'staff@demo.example')
    await page.goto(`${demo.url}/profile/notifications`)
    await page.getByRole('heading', { name: 'Work for the provider' }).waitFor()
    await page.getByRole('switch', { name: 'Letter to review' }).waitFor()
    await context.close()
  })

  it('has the report of last month in a mail with its PDF, and on the page of that month', async () => {
    // The demo sends it once the traffic of that month is written.
    const mail = await mailWith('/reports?month=')
    assert.match(mail, /filename="?report-\d{4}-\d\d\.pdf/)
    assert.match(mail, /^JVBERi0|%PDF-/m)
    const month = /\/reports\?month=(\d{4}-\d\d)/.exec(mail)![1]!
    const { context, page, pageErrors } = await openPerson(browser, demo.url, member)
    await page.goto(`${demo.url}/reports?month=${month}`)
    await page.getByRole('heading', { name: 'Monthly report' }).waitFor()
    assert.equal(await page.getByRole('combobox', { name: 'Month' }).inputValue(), month)
    await page.getByRole('region', { name: 'Traffic', exact: true }).getByRole('img').first().waitFor()
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  it('end with the link of a mail, which leads back to the settings', async () => {
    const mail = await mailWith('/unsubscribe/')
    assert.match(mail, /\/profile\/notifications/)
    const link = /https?:\/\/[^\s"<>]+\/unsubscribe\/[^\s"<>]+/.exec(mail)![0]
    const { context, page, pageErrors } = await openPerson(browser, demo.url, member)
    await page.goto(demo.url + new URL(link).pathname)
    await page.getByRole('heading', { name: 'Unsubscribe from notifications' }).waitFor()
    assert.deepEqual(await axeViolations(page), [])
    await shoot(page, 'unsubscribe')
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor()
    await shoot(page, 'unsubscribed')
    await page.getByRole('link', { name: 'settings of the portal' }).click()
    await page.getByRole('heading', { name: 'Notification settings' }).waitFor()
    const mails = page.getByRole('switch', { name: 'Send mails' })
    await mails.waitFor()
    assert.equal(await mails.isChecked(), false)
    assert.deepEqual(pageErrors, [])
    await context.close()
  })

  /** The text of a mail to the member, with the line breaks of quoted-printable and base64 undone. */
  async function mailWith(text: string): Promise<string> {
    let found: string | undefined
    await until(`a mail to ${member} with ${text}`, async () => {
      found = demo
        .mailsTo(member)
        .map(decoded)
        .find((mail) => mail.includes(text))
      assert.ok(found !== undefined)
    })
    return found!
  }
})

const decoded = (mail: string): string =>
  mail
    .replaceAll(/=\r?\n/g, '')
    .replaceAll('=3D', '=')
    .replaceAll(/(?:^[A-Za-z0-9+/=]{60,}\r?\n)+(?:^[A-Za-z0-9+/=]*\r?\n)?/gm, (block) =>
      Buffer.from(block, 'base64').toString('utf8'),
    )

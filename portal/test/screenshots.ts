// Screenshots of every page in both themes, at the widths of a phone, a laptop and a large screen, for manual review:
//
//   node portal/test/screenshots.ts [parts of page names]
//
// The pictures are written to portal/screenshots, which is not committed.
import { openBrowser, settled, shoot, signIn, waitMs } from './browser.ts'
import { fill } from './sample-data.ts'
import { Demo } from './demo.ts'
import type { Browser, Page } from 'playwright-core'

const widths = { 390: 844, 1440: 900, 2560: 1440 } as const
const themes = ['light', 'dark'] as const

type Shot = { readonly name: string; readonly path: string; readonly act?: (page: Page) => Promise<unknown> }

const press = (name: string | RegExp) => async (page: Page) => {
  await page.getByRole('button', { name }).first().click()
  await page.getByRole('dialog').waitFor()
}
const key = (name: string) => async (page: Page) => {
  await page.keyboard.press(name)
  await page.getByRole('dialog').waitFor()
}
const open = (path: string) => async (page: Page) => {
  const link = page.locator(`[data-list] a[href^="${path}"], section a[href^="${path}"]`).first()
  await link.click()
  await page.waitForURL((url) => url.pathname !== path.slice(0, -1))
}

const ofMember: readonly Shot[] = [
  { name: 'overview', path: '/' },
  {
    name: 'overview-pinned',
    path: '/',
    act: async (page) => {
      await page.evaluate(`localStorage.setItem('pharos-views-1-traffic', JSON.stringify([
        { name: 'Networks by hour', search: '?by=remote_asn&chart=heatmap&range=1h', isPinned: true },
        { name: 'Outbound ports', search: '?by=local_port&direction=out&range=1h', isPinned: true },
      ]))`)
      await page.reload()
    },
  },
  { name: 'announcements', path: '/announcements' },
  { name: 'announcements-none', path: '/announcements?cidr=192.0.2.0%2F24' },
  { name: 'announcement', path: '/announcements', act: open('/announcements/') },
  {
    name: 'announcement-failed',
    path: '/announcements?status=validation_failed',
    act: open('/announcements/'),
  },
  { name: 'announcement-new', path: '/announcements/new' },
  { name: 'asns', path: '/asns' },
  { name: 'asn', path: '/asns', act: open('/asns/') },
  { name: 'traffic', path: '/traffic?range=1h' },
  { name: 'traffic-many', path: '/traffic?by=remote_asn,protocol,prefix&range=1h' },
  { name: 'traffic-grid', path: '/traffic?by=local_port&chart=grid&range=1h' },
  { name: 'traffic-heatmap', path: '/traffic?by=remote_asn&chart=heatmap&range=1h' },
  { name: 'traffic-sankey', path: '/traffic?by=remote_asn,protocol,local_port&chart=sankey&range=1h' },
  { name: 'events', path: '/events' },
  { name: 'events-none', path: '/events?affected_network=192.0.2.1' },
  { name: 'event', path: '/events', act: open('/events/') },
  { name: 'report', path: '/reports' },
  { name: 'shield', path: '/shield' },
  { name: 'shield-rules', path: '/shield/rules?prefix=203.0.113.0%2F24' },
  { name: 'devices', path: '/devices' },
  { name: 'device', path: '/devices', act: open('/devices/') },
  { name: 'ports', path: '/ports' },
  { name: 'port', path: '/ports', act: open('/ports/') },
  { name: 'services', path: '/services' },
  { name: 'service', path: '/services', act: open('/services/') },
  { name: 'cross-connects', path: '/cross-connects' },
  { name: 'cross-connect', path: '/cross-connects/2' },
  { name: 'zones', path: '/zones' },
  { name: 'zone-new', path: '/zones/new' },
  { name: 'zone-import', path: '/zones/import' },
  { name: 'zone-records', path: '/zones/demo-networks.example' },
  {
    name: 'zone-edit',
    path: '/zones/demo-networks.example',
    act: (page) => page.getByRole('button', { name: 'Edit www/A', exact: true }).click(),
  },
  { name: 'zone-dnssec', path: '/zones/demo-networks.example?tab=dnssec' },
  { name: 'zone-servers', path: '/zones/demo-networks.example?tab=servers' },
  { name: 'zone-file', path: '/zones/demo-networks.example?tab=import' },
  { name: 'zone-settings', path: '/zones/demo-networks.example?tab=settings' },
  { name: 'zone-history', path: '/zones/demo-networks.example?tab=history' },
  { name: 'zone-unsigned', path: '/zones/lab.demo-networks.example?tab=dnssec' },
  { name: 'reverse', path: '/reverse?network=203.0.113.0%2F24' },
  { name: 'reverse-templates', path: '/reverse?tab=templates' },
  { name: 'team-members', path: '/team/members' },
  { name: 'team-invite', path: '/team/members', act: press('Invite') },
  { name: 'team-settings', path: '/team/settings' },
  { name: 'team-domains', path: '/team/domains' },
  { name: 'team-tokens', path: '/team/tokens' },
  { name: 'team-token-new', path: '/team/tokens/new' },
  { name: 'team-webhooks', path: '/team/webhooks' },
  { name: 'team-webhook-new', path: '/team/webhooks', act: press('Add webhook') },
  { name: 'team-deliveries', path: '/team/webhooks', act: open('/team/webhooks/') },
  { name: 'team-audit', path: '/team/audit' },
  { name: 'profile', path: '/profile' },
  { name: 'notification-settings', path: '/profile/notifications' },
  { name: 'notifications', path: '/notifications' },
  { name: 'bell', path: '/', act: press(/^Notifications/) },
  { name: 'keys', path: '/', act: key('?') },
  { name: 'palette', path: '/', act: key('Control+k') },
  { name: 'nothing', path: '/announcements/999999' },
]
const ofStaff: readonly Shot[] = [
  { name: 'staff-overview', path: '/' },
  { name: 'staff-inbox', path: '/staff/inbox' },
  { name: 'staff-decisions', path: '/staff/inbox?state=decided' },
  { name: 'staff-letters', path: '/staff/letters?status=all' },
  { name: 'staff-customers', path: '/staff/customers' },
  { name: 'staff-customer', path: '/staff/customers/1' },
  { name: 'staff-suspend', path: '/staff/customers/1', act: press(/^Suspend /) },
  { name: 'staff-regions', path: '/staff/regions' },
  { name: 'staff-registries', path: '/staff/registries' },
  { name: 'staff-detectors', path: '/staff/detectors' },
]
const ofGuest: readonly Shot[] = ['sign-in', 'reset-password', 'invitation', 'confirm-email'].map((name) => ({
  name,
  path: `/${name}`,
}))

async function main(words: readonly string[]): Promise<void> {
  const demo = new Demo({ traffic: true })
  const browser = await openBrowser()
  try {
    await demo.start()
    await fill(demo)
    const wanted = ({ name }: Shot) => words.length === 0 || words.some((word) => name.includes(word))
    for (const theme of themes) {
      await shootAll(browser, demo.url, theme, ofMember.filter(wanted), 'demo@demo.example')
      await shootAll(browser, demo.url, theme, ofStaff.filter(wanted), 'staff@demo.example')
      await shootAll(browser, demo.url, theme, ofGuest.filter(wanted))
    }
  } finally {
    await browser.close()
    await demo.stop()
  }
}

async function shootAll(
  browser: Browser,
  url: string,
  colorScheme: (typeof themes)[number],
  shots: readonly Shot[],
  email?: string,
): Promise<void> {
  if (shots.length === 0) return
  const context = await browser.newContext({ colorScheme })
  context.setDefaultTimeout(waitMs)
  const page = await context.newPage()
  if (email) await signIn(page, url, email)
  for (const { name, path, act } of shots)
    for (const [width, height] of Object.entries(widths)) {
      await page.setViewportSize({ width: Number(width), height })
      await page.goto(url + path)
      await settled(page)
      await act?.(page)
      await settled(page)
      await shoot(page, `${name}-${width}-${colorScheme}`)
    }
  await context.close()
}

await main(process.argv.slice(2))

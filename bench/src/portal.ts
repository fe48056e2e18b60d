// V1: the portal in a browser. Time until it can be used on a slow processor, beside a plain page of the same libraries, and
// whether its lists of ten thousand rows scroll smoothly.
import { openBrowser, skipWithoutBrowser } from '../../portal/test/browser.ts'
import { seedAnnouncements, seedRegions } from './announcements.ts'
import type { Bench, Benchmark, Line } from './benchmark.ts'
import { visit, visitForm, type View, type Visit } from './first-view.ts'
import { seedTeams, seedUsers, userOf } from './people.ts'
import { startPlainPage } from './plain-page.ts'
import { startProduct } from './product.ts'
import { longTaskMs, scrollList, type Scroll } from './scroll.ts'
import { seedEvents } from './seed-events.ts'
import { milliseconds, times, whole } from './table.ts'
import { medianOf, takeTurns } from './turns.ts'

const viewMsMax = 1_000
const listMsMax = 1_500
const scriptBytesMax = 250_000

export const portal: Benchmark = {
  id: 'V1',
  name: 'portal',
  title: 'the portal: first view at a quarter of the speed, lists of 10,000 rows',
  missing: () => skipWithoutBrowser() || undefined,
  run,
}

async function buildPortal(): Promise<void> {
  const url = new URL('../../scripts/build-portal.mjs', import.meta.url)
  const script = (await import(url.href)) as { buildPortal(): Promise<void> }
  return script.buildPortal()
}

async function run(bench: Bench): Promise<Line[]> {
  const { folder, report } = bench
  const rows = bench.quick ? 1_000 : 10_000
  const postgres = await (
    await bench.cluster()
  ).database(`portal_${rows}`, async (client) => {
    await seedTeams(client, 1)
    await seedUsers(client, 1, 1)
    await seedRegions(client, ['ams', 'fra'])
    await seedAnnouncements(client, rows - 1, 0)
    await seedEvents(client, { events: rows, teams: 1, firstShare: 1 }, report)
  })
  await buildPortal()
  await using product = await startProduct({ roles: ['api'], databaseUrl: postgres.databaseUrl, folder })
  await using plain = await startPlainPage(folder)
  const browser = await openBrowser()
  try {
    const who = userOf(1)
    // The very first visit also reads the files from the disk.
    await visit(browser, product.url, who)
    const { ours, peer } = await takeTurns(
      bench.quick ? 1 : Math.max(7, bench.rounds),
      () => visit(browser, product.url, who),
      () => visitForm(browser, plain.url),
    )
    const lists = []
    for (const path of ['/events', '/announcements'])
      lists.push({ path, scroll: await scrollList(browser, product.url, path, who) })
    return [
      ...viewLines(ours, peer, report),
      ...lists.map(({ path, scroll }) => {
        report(describeScroll(path, scroll))
        return lineOfScroll(path, scroll)
      }),
    ]
  } finally {
    await browser.close()
  }
}

const slow = 'processor at a quarter'

function viewLines(ours: readonly Visit[], peer: readonly View[], report: Bench['report']): Line[] {
  const of = (one: keyof Visit, number: keyof View) => medianOf(ours, (visit) => visit[one][number])
  const plainMs = medianOf(peer, ({ ms }) => ms)
  const plainBytes = medianOf(peer, ({ scriptBytes }) => scriptBytes)
  const view = (what: string, one: keyof Visit, most = viewMsMax) => ({
    what: `${what}, ${slow}`,
    result: milliseconds(of(one, 'ms')),
    peer: `${milliseconds(plainMs)} plain page`,
    ratio: `${times(of(one, 'ms') / plainMs)} its time`,
    goal: `<= ${milliseconds(most)}`,
    reached: of(one, 'ms') <= most,
  })
  const bytes = (what: string, amount: number) => ({
    what: `packed scripts until ${what}`,
    result: kilobytes(amount),
    peer: `${kilobytes(plainBytes)} plain page`,
    ratio: times(amount / plainBytes),
    goal: `<= ${kilobytes(scriptBytesMax)}`,
    reached: amount <= scriptBytesMax,
  })
  for (const one of ['form', 'announcements'] as const)
    report(
      `${one}, empty cache: ${whole(of(one, 'requests'))} requests, ${kilobytes(of(one, 'bytes'))} transferred`,
    )
  return [
    view('sign-in form usable, nothing kept', 'form'),
    view('from the click to the overview', 'overview'),
    view('overview loaded again', 'reload'),
    view('announcements usable, signed in, empty cache', 'announcements', listMsMax),
    bytes('the form', of('form', 'scriptBytes')),
    bytes('the overview, form included', of('overview', 'scriptBytes')),
  ]
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(0)} kB`

const describeScroll = (path: string, scroll: Scroll): string =>
  `${path}: ${whole(scroll.rows)} rows in ${scroll.seconds.toFixed(1)} s; frames p50 ${milliseconds(scroll.frameMsP50)}, ` +
  `p99 ${milliseconds(scroll.frameMsP99)}, longest ${milliseconds(scroll.frameMsMax)}, ${milliseconds(scroll.processorMsPerFrame)} of processor each; ${scroll.longTasks} long tasks, ` +
  `the longest ${milliseconds(scroll.longestTaskMs)}; at most ${whole(scroll.elements)} elements`

function lineOfScroll(path: string, { rows, longestTaskMs, frameMsP99 }: Scroll): Line {
  return {
    what: `${path}: ${whole(rows)} rows scrolled, longest task; frame p99 ${milliseconds(frameMsP99)}`,
    result: longestTaskMs === 0 ? `none over ${longTaskMs} ms` : milliseconds(longestTaskMs),
    peer: '-',
    ratio: '-',
    goal: `none over ${longTaskMs} ms`,
    reached: longestTaskMs <= longTaskMs,
  }
}

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { vrpDrivers } from '../vrp-sources.ts'
import { silentLog } from '../../runtime/log.ts'
import { parseRtrUrl, readTlsFiles } from './url.ts'

it('parses the address of a cache, with the default ports of IANA', () => {
  assert.deepEqual(parseRtrUrl('rtr://cache.example.net:3323'), {
    name: 'rtr://cache.example.net:3323',
    host: 'cache.example.net',
    port: 3323,
  })
  assert.deepEqual(parseRtrUrl('rtr://192.0.2.1').port, 323)
  assert.deepEqual(parseRtrUrl('rtrs://[2001:db8::1]'), {
    name: 'rtrs://[2001:db8::1]',
    host: '2001:db8::1',
    port: 324,
    tls: {},
  })
})

it('reads the PEM files when the source is created, not at the first connection', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'ca.pem')
  writeFileSync(file, 'text')
  assert.deepEqual(readTlsFiles(parseRtrUrl(`rtrs://c:1?ca=${file}`)).tls, { ca: 'text' })
  const source = `rtrs://c:1?ca=${file}.none`
  vrpDrivers.checkAll([source])
  assert.throws(
    () => vrpDrivers.createAll([source], { log: silentLog, confirmMs: 0, now: () => new Date() }),
    /ca=.*none cannot be read \(ENOENT\)/,
  )
})

it('reports the problem of a source', () => {
  const refused: readonly [url: string, reason: RegExp][] = [
    ['cache.example.net', /write rtr:\/\/host:port/],
    ['rtr:// cache', /a URL such as rtr:/],
    ['ssh://cache:22', /write rtr:\/\/host:port or rtrs:.*https:\/\/host\/path/],
    ['rtr://', /host is missing/],
    ['rtr://user:word@cache:1', /has no user/],
    ['rtr://cache:1/path', /leave out the path/],
    ['rtr://cache:1?ca=/x', /unknown parameter ca .*write rtrs/],
    ['rtrs://cache:1?CA=/x', /unknown parameter CA \(known: ca, cert, key\)/],
    ['rtrs://cache:1?cert=/dev/null', /cert needs key/],
    ['file://host/x', /file:\/absolute\/path/],
  ]
  for (const [url, reason] of refused) {
    assert.throws(() => vrpDrivers.checkAll([url]), reason, url)
    assert.throws(
      () => vrpDrivers.createAll([url], { log: silentLog, confirmMs: 0, now: () => new Date() }),
      (error) => error instanceof TypeError && reason.test(error.message),
      url,
    )
  }
  assert.throws(
    () =>
      vrpDrivers.createAll(['rtr://c:1', 'rtr://c:1'], {
        log: silentLog,
        confirmMs: 0,
        now: () => new Date(),
      }),
    /twice/,
  )
})

it('names a source by its URL for operators, and by its kind for customers', () => {
  const urls = ['rtr://127.0.0.1:8395', 'rtrs://[fd00::1]', 'file:/x.json', 'https://u:p@h/x.json?k=1']
  const sources = vrpDrivers.createAll(urls, { log: silentLog, confirmMs: 0, now: () => new Date() })
  assert.deepEqual(
    sources.map(({ name, label }) => [name, label]),
    [
      ['rtr://127.0.0.1:8395', 'RTR cache'],
      ['rtrs://[fd00::1]', 'RTR cache'],
      ['file:///x.json', 'VRP export'],
      ['https://h/x.json', 'VRP export'],
    ],
  )
})

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { createVrpSources } from '../vrp-sources.ts'
import { silentLog } from '../../runtime/log.ts'
import { parseRtrUrl } from './url.ts'

it('reads where a cache is, with the ports that IANA has for it', () => {
  const read = (text: string) => parseRtrUrl(new URL(text))
  assert.deepEqual(read('rtr://cache.example.net:3323'), {
    name: 'rtr://cache.example.net:3323',
    host: 'cache.example.net',
    port: 3323,
  })
  assert.deepEqual(read('rtr://192.0.2.1').port, 323)
  assert.deepEqual(read('rtrs://[2001:db8::1]'), {
    name: 'rtrs://[2001:db8::1]',
    host: '2001:db8::1',
    port: 324,
    tls: {},
  })
})

it('reads the files of a certificate when it is configured, not when it is needed', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'ca.pem')
  writeFileSync(file, 'text')
  assert.deepEqual(parseRtrUrl(new URL(`rtrs://c:1?ca=${file}`)).tls, { ca: 'text' })
  assert.throws(
    () => parseRtrUrl(new URL(`rtrs://c:1?ca=${file}.none`)),
    /ca=.*none cannot be read \(ENOENT\)/,
  )
})

it('says what is wrong with a source', () => {
  const refused: readonly [url: string, reason: RegExp][] = [
    ['cache.example.net', /a URL such as rtr:/],
    ['ssh://cache:22', /write rtr:\/\/host:port, rtrs:/],
    ['rtr://', /host is missing/],
    ['rtr://user:word@cache:1', /knows no user/],
    ['rtr://cache:1/path', /leave out the path/],
    ['rtr://cache:1?ca=/x', /unknown parameter ca .*write rtrs/],
    ['rtrs://cache:1?CA=/x', /unknown parameter CA \(known: ca, cert, key\)/],
    ['rtrs://cache:1?cert=/dev/null', /come together/],
    ['file://host/x', /file:\/absolute\/path/],
  ]
  for (const [url, reason] of refused)
    assert.throws(
      () => createVrpSources([url], { log: silentLog, confirmMs: 0 }),
      (error) => error instanceof TypeError && reason.test(error.message),
      url,
    )
  assert.throws(() => createVrpSources(['rtr://c:1', 'rtr://c:1'], { log: silentLog, confirmMs: 0 }), /twice/)
  const names = createVrpSources(['rtr://a:1', 'file:/x.json', 'https://u:p@h/x.json?k=1'], {
    log: silentLog,
    confirmMs: 0,
  }).map(({ name }) => name)
  assert.deepEqual(names, ['rtr://a:1', 'file:///x.json', 'https://h/x.json'])
})

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createIrrSource } from './url.ts'

const taken: readonly [string, string][] = [
  ['whois://irr.example:4343?sources=RADB,ripe', 'whois://irr.example:4343 (RADB,RIPE)'],
  ['whois://irr.example?sources=RADB&sources=RIPE', 'whois://irr.example:43 (RADB,RIPE)'],
  ['whois://irr.example/', 'whois://irr.example:43'],
  ['whois://192.0.2.1', 'whois://192.0.2.1:43'],
  ['whois://[2001:db8::1]:43?sources=RADB', 'whois://[2001:db8::1]:43 (RADB)'],
  ['file:/var/lib/irr/ripe.db.route.gz', 'file:/var/lib/irr/ripe.db.route.gz'],
  ['file:///var/lib/irr/a%20dump.rpsl?sources=RIPE', 'file:/var/lib/irr/a dump.rpsl'],
]
for (const [text, name] of taken) {
  it(`makes a source of ${text}`, async () => {
    const source = createIrrSource(text, 0)
    assert.equal(source.name, name)
    await source.close()
  })
}

const refused: readonly [string, RegExp][] = [
  ['', /whois:\/\/host/],
  ['irr.example', /whois:\/\/host/],
  ['https://irr.example/', /whois:\/\/host/],
  ['whois://', /whois:\/\/host|host is missing/],
  ['whois://host/path', /host is missing/],
  ['whois://user:secret@host', /^(?!.*secret)/],
  ['whois://host?source=RADB', /no parameter source/],
  ['whois://host?sources=', /registry/],
  ['whois://host?sources=RADB%0a!q', /registry/],
  ['whois://host:99999', /whois:\/\/host/],
  ['file:dump.rpsl', /whole path/],
  ['file://host/dump.rpsl', /whole path/],
  ['file:', /whole path/],
]
for (const [text, message] of refused) {
  it(`refuses ${JSON.stringify(text)}`, () => assert.throws(() => createIrrSource(text, 0), message))
}

import assert from 'node:assert/strict'
import { it } from 'node:test'
import { irrDrivers } from './irr-sources.ts'

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
  it(`creates a source from ${text}`, async () => {
    irrDrivers.checkAll([text])
    const [source] = irrDrivers.createAll([text], { confirmMs: 0 })
    assert.equal(source!.name, name)
    const registries = / \([A-Z,]+\)$/.exec(name)?.[0] ?? ''
    assert.equal(source!.label, text.startsWith('file:') ? 'IRR dump' : `IRR server${registries}`)
    await source!.close()
  })
}

const refused: readonly [string, RegExp][] = [
  ['', /whois:\/\/host/],
  ['irr.example', /whois:\/\/host/],
  ['https://irr.example/', /whois:\/\/host/],
  ['whois://', /whois:\/\/host|host is missing/],
  ['whois://host/path', /host is missing/],
  ['whois://user:secret@host', /^(?!.*secret)/],
  ['whois://host?source=RADB', /unknown parameter source /],
  ['whois://host?sources=', /registry/],
  ['whois://host?sources=RADB%0a!q', /registry/],
  ['whois://host:99999', /whois:\/\/host/],
  ['file:dump.rpsl', /absolute/],
  ['file://host/dump.rpsl', /absolute/],
  ['file:', /absolute/],
]
for (const [text, message] of refused) {
  it(`refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => irrDrivers.checkAll([text]), message)
    assert.throws(() => irrDrivers.createAll([text], { confirmMs: 0 }), message)
  })
}

it('refuses a source that is listed twice', () => {
  const url = 'whois://irr.example'
  assert.throws(
    () => irrDrivers.checkAll([url, 'whois://192.0.2.1', url]),
    /^TypeError: IRR source whois:.* is listed twice$/,
  )
})

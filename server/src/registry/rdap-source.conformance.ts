// The conformance suite of the port RdapSource. It uses the port only; the fixture sets the registrations.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parsePrefix } from '../net/prefix.ts'
import { DriverError } from '../runtime/driver-error.ts'
import type { IpNetwork, RdapSource } from './rdap-source.ts'

export type RegisteredNetwork = {
  readonly prefix: string
  readonly handle: string
  readonly remarks: readonly string[]
  /** Lines in the remarks of a contact of the network. */
  readonly contactRemarks?: readonly string[]
}

export type RdapSourceFixture = {
  readonly source: RdapSource
  setNetworks(networks: readonly RegisteredNetwork[]): void
  /** No query is answered until `show`. */
  hide(): Promise<void>
  show(): Promise<void>
  stop(): Promise<void>
}

const never = new AbortController().signal

/** Runs the suite; `make` starts one registry for all of it. */
export function rdapSourceConformance(name: string, make: () => Promise<RdapSourceFixture>): void {
  describe(`the RDAP source ${name}`, () => {
    let fixture: RdapSourceFixture
    before(async () => {
      fixture = await make()
      fixture.setNetworks([
        { prefix: '203.0.112.0/22', handle: 'NET-PARENT', remarks: [] },
        {
          prefix: '203.0.113.0/24',
          handle: 'NET-OWN',
          remarks: ['first line', ' second: line '],
          contactRemarks: ['of a contact'],
        },
        { prefix: '2001:db8::/32', handle: '', remarks: [] },
      ])
    })
    after(() => fixture?.stop())

    const find = (prefix: string, signal = never): Promise<IpNetwork | undefined> =>
      fixture.source.findIpNetwork(parsePrefix(prefix), signal)

    it('finds the most specific registration that contains the prefix', async () => {
      assert.deepEqual(await find('203.0.113.0/24'), {
        handle: 'NET-OWN',
        first: '203.0.113.0',
        last: '203.0.113.255',
        remarks: ['first line', ' second: line '],
      })
      assert.equal((await find('203.0.112.0/23'))?.handle, 'NET-PARENT')
      assert.equal((await find('203.0.113.128/32'))?.handle, 'NET-OWN')
    })

    it('finds IPv6 networks, and networks without a handle', async () => {
      assert.deepEqual(await find('2001:db8:1::/48'), {
        handle: '',
        first: '2001:db8::',
        last: '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff',
        remarks: [],
      })
    })

    it('resolves with undefined if there is none', async () => {
      assert.equal(await find('198.51.100.0/24'), undefined)
    })

    it('rejects as unreachable while no server answers, and answers later', async () => {
      await fixture.hide()
      await assert.rejects(
        find('203.0.113.0/24'),
        (error: unknown) => error instanceof DriverError && error.kind === 'unreachable',
      )
      await fixture.show()
      assert.equal((await find('203.0.113.0/24'))?.handle, 'NET-OWN')
    })

    it('is cancelled by its signal', async () => {
      await assert.rejects(find('203.0.113.0/24', AbortSignal.abort(new Error('over'))), /over/)
    })
  })
}

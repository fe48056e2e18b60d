// The conformance suite of the port DeviceSource, run on every driver. It uses the port only; the fixture scripts the
// device behind the source. Cases that a driver cannot have, such as lost datagrams of a device without a network, are
// skipped by its abilities.
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { DriverError, type DriverErrorKind } from '../../runtime/driver-error.ts'
import type {
  CounterRow,
  DeviceSource,
  InterfaceState,
  OpticReading,
  SeenInterface,
} from './device-source.ts'

export type ScriptedCounters = {
  readonly bits: 64 | 32
  /** Null: the device has no such counter. */
  readonly octetsIn: bigint | null
  readonly octetsOut: bigint | null
  readonly packetsIn: bigint | null
  readonly packetsOut: bigint | null
  readonly errorsIn: bigint | null
  readonly errorsOut: bigint | null
  readonly discardsIn: bigint | null
  readonly discardsOut: bigint | null
  readonly discontinuity: number | null
}

export type ScriptedOptic = {
  readonly serial: string
  readonly lanes: number
  /** Null: it has no digital diagnostic monitoring. */
  readonly rxDbm: number | null
}

export type ScriptedInterface = {
  /** Null: the device has only a description. */
  readonly name: string | null
  readonly description?: string
  /** Number on the device; by default its position from 1. */
  readonly index?: number
  readonly alias?: string
  readonly isLag?: boolean
  readonly lag?: string
  readonly speedBps: number | null
  readonly admin: InterfaceState
  readonly oper: InterfaceState
  readonly addresses?: readonly string[]
  readonly counters?: Partial<ScriptedCounters>
  readonly optic?: ScriptedOptic
}

export type ScriptedDevice = {
  readonly identity: {
    readonly name: string
    readonly vendor: string
    readonly model: string
    readonly serial: string
    readonly software: string
  }
  readonly interfaces: readonly ScriptedInterface[]
}

/**
 * - `counters`: the device has the scripted counters
 * - `names`: interfaces with the same name, without a name, and other numbers than before
 * - `states`: all states of RFC 2863, not only up, down and not_present
 * - `optics`: transceivers and light levels
 * - `restart`: it can restart
 * - `datagrams`: requests and answers can be lost, late, partial or from another host
 */
export type DeviceAbility = 'counters' | 'names' | 'states' | 'optics' | 'restart' | 'datagrams'

export type DeviceFault =
  | 'silent'
  | 'slow'
  | 'lossy'
  | 'half'
  | 'stranger'
  | 'endless'
  | 'twice'
  | 'truncated'
  | 'small'

export type DeviceFixture = {
  /** A try takes 300 ms or less; a call 10 s. */
  readonly source: DeviceSource
  set(device: ScriptedDevice): void
  /** Undefined ends the fault. */
  setFault(fault: DeviceFault | undefined): void
  restart?(): void
  /** Another source of the same device. */
  create(): DeviceSource
  stop(): Promise<void>
}

const identity = {
  name: 'edge1.example.net',
  vendor: 'Arista',
  model: 'DCS-7280SR3',
  serial: 'JPE12345678',
  software: '4.31.2F',
}
const up = { admin: 'up', oper: 'up', speedBps: 100e9 } as const
const ports = (...interfaces: Partial<ScriptedInterface>[]): ScriptedDevice => ({
  identity,
  interfaces: interfaces.map((one, at) => ({ name: `Ethernet${at + 1}`, ...up, ...one })),
})

/** Runs the suite; `make` starts one device for all of it. */
export function deviceSourceConformance(
  name: string,
  abilities: readonly DeviceAbility[],
  make: () => Promise<DeviceFixture>,
): void {
  describe(`the device source ${name}`, () => {
    let fixture: DeviceFixture
    let source: DeviceSource
    const { signal } = new AbortController()
    before(async () => {
      fixture = await make()
      source = fixture.source
    })
    afterEach(() => fixture.setFault(undefined))
    after(async () => {
      await source?.close()
      await fixture?.stop()
    })

    const can = (...needed: DeviceAbility[]) => needed.every((one) => abilities.includes(one))
    const counters = async (keys: readonly string[] | 'all' = 'all') => source.readCounters(keys, signal)
    const listed = async (device: ScriptedDevice): Promise<readonly SeenInterface[]> => {
      fixture.set(device)
      return source.listInterfaces(signal)
    }
    const rowsOf = async (device: ScriptedDevice): Promise<readonly CounterRow[]> => {
      fixture.set(device)
      return (await counters()).rows
    }

    it('identifies the device', async () => {
      fixture.set(ports({}))
      const { uptimeMs, ...found } = await source.probe(signal)
      assert.deepEqual(found, identity)
      assert.ok(uptimeMs > 0)
    })

    it('lists all interfaces by their number, with addresses and LAGs', async () => {
      const found = await listed(
        ports(
          {
            name: 'Port-Channel1',
            isLag: true,
            addresses: ['192.0.2.1/30', '2001:db8::1/64'],
            speedBps: 200e9,
          },
          { lag: 'Port-Channel1', alias: 'to <core>' },
          { lag: 'Port-Channel1', admin: 'down', oper: 'down' },
          { oper: 'not_present', speedBps: null },
        ),
      )
      assert.deepEqual(
        found.map(({ key, index, alias, lagKey, admin, oper }) => [key, index, alias, lagKey, admin, oper]),
        [
          ['Port-Channel1', 1, '', null, 'up', 'up'],
          ['Ethernet2', 2, 'to <core>', 'Port-Channel1', 'up', 'up'],
          ['Ethernet3', 3, '', 'Port-Channel1', 'down', 'down'],
          ['Ethernet4', 4, '', null, 'up', 'not_present'],
        ],
      )
      assert.deepEqual([found[0]!.type, found[1]!.type], [161, 6])
      assert.deepEqual(found[0]!.addresses, ['192.0.2.1/30', '2001:db8::1/64'])
      assert.deepEqual(
        found.map(({ speedBps }) => speedBps),
        [200e9, 100e9, 100e9, null],
      )
      assert.match(found[1]!.mac!, /^([0-9a-f]{2}:){5}[0-9a-f]{2}$/)
    })

    it('has no rows for a device without interfaces', async () => {
      assert.deepEqual(await listed(ports()), [])
      assert.deepEqual(await counters(), { rows: [], failed: [], isPartial: false })
    })

    it('reads 5,000 interfaces', async () => {
      const device = ports(...Array.from({ length: 5_000 }, () => ({})))
      assert.equal((await listed(device)).length, 5_000)
      const { rows } = await counters()
      assert.equal(new Set(rows.map(({ key }) => key)).size, 5_000)
    })

    it('adds the clock of the device and the time to each row', async () => {
      const before = Date.now()
      const [row] = await rowsOf(ports({}))
      assert.ok(row!.uptimeCs > 0)
      assert.ok(can('datagrams') ? row!.at >= before && row!.at <= Date.now() : row!.at > 0)
    })

    it('returns the same values for the same state', async () => {
      const values = (rows: readonly CounterRow[]) => rows.map((row) => ({ ...row, at: 0, uptimeCs: 0 }))
      const first = await rowsOf(ports({}, {}))
      assert.deepEqual(values((await counters()).rows), values(first))
    })

    it('reports interfaces that vanished as missing, and reads the others', async () => {
      await rowsOf(ports({}, {}, {}))
      fixture.set(ports({}, {}))
      for (const keys of [
        ['Ethernet1', 'Ethernet3'],
        ['Ethernet3', 'Ethernet1', 'Ethernet2'],
      ]) {
        const { rows, failed } = await counters(keys)
        assert.deepEqual(rows.map(({ key }) => key).sort(), keys.filter((key) => key !== 'Ethernet3').sort())
        assert.deepEqual(failed, [{ key: 'Ethernet3', reason: 'missing' }])
      }
    })

    it('reports silence as unreachable, for every call', async () => {
      fixture.set(ports({}))
      fixture.setFault('silent')
      for (const call of callsOf(fixture.create())) await rejectsWith(call(signal), 'unreachable')
    })

    it('ends with the reason of the signal, also one that was aborted before', async () => {
      fixture.set(ports({}))
      fixture.setFault('silent')
      const reason = new Error('no longer needed')
      const own = fixture.create()
      for (const call of callsOf(own)) {
        await assert.rejects(call(AbortSignal.abort(reason)), reason)
        if (!can('datagrams')) continue
        const controller = new AbortController()
        const running = call(controller.signal)
        setTimeout(() => controller.abort(reason), 20)
        await assert.rejects(running, reason)
      }
      await own.close()
    })

    it('rejects calls after close, and those that run', async () => {
      fixture.set(ports({}))
      fixture.setFault('silent')
      const own = fixture.create()
      const running = own.readCounters('all', signal)
      running.catch(() => undefined)
      await own.close()
      await rejectsWith(running, 'unreachable')
      fixture.setFault(undefined)
      for (const call of callsOf(own)) await rejectsWith(call(signal), 'unreachable')
    })

    if (can('counters')) {
      it('reads counters exactly, from 0 to 2^64-1', async () => {
        const values = [0n, 255n, 2n ** 31n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n]
        const rows = await rowsOf(
          ports(
            ...values.map((octetsIn) => ({ counters: { octetsIn, octetsOut: 7n, packetsIn: octetsIn } })),
          ),
        )
        assert.deepEqual(
          rows.map(({ octetsIn, octetsOut, packetsIn, bits }) => [octetsIn, octetsOut, packetsIn, bits]),
          values.map((value) => [value, 7n, value, 64]),
        )
      })

      it('reads counters of 32 bits where the interface has no others', async () => {
        const large = { octetsIn: 2n ** 40n, bits: 64 } as const
        const small = { octetsIn: 4_000_000_000n, errorsOut: 3n, bits: 32 } as const
        for (const [interfaces, bits] of [
          [
            [{ counters: small }, { counters: large }],
            [32, 64],
          ],
          [
            [{ counters: small }, { counters: small }],
            [32, 32],
          ],
        ] as const) {
          await listed(ports(...interfaces))
          const { rows } = await counters()
          assert.deepEqual(
            rows.map((row) => [row.octetsIn, row.bits]),
            interfaces.map((one, at) => [one.counters.octetsIn, bits[at]]),
          )
          assert.equal(rows[0]!.errorsOut, 3n)
        }
      })

      it('returns null for a counter that the device lacks, in every combination of rows', async () => {
        const rows = await rowsOf(
          ports(
            { counters: { octetsIn: 1n, errorsIn: null } },
            { counters: { octetsIn: null, octetsOut: null, packetsIn: null, packetsOut: null } },
            { counters: { octetsIn: 3n, errorsIn: 30n, discontinuity: null } },
            { counters: { octetsIn: 4n, errorsIn: null, discontinuity: 44 } },
          ),
        )
        assert.deepEqual(
          rows.map(({ octetsIn, errorsIn, discontinuity }) => [octetsIn, errorsIn, discontinuity]),
          [
            [1n, null, 0],
            [null, 0n, 0],
            [3n, 30n, null],
            [4n, null, 44],
          ],
        )
      })
    }

    if (can('names')) {
      it('has a unique key for every interface', async () => {
        const device = ports(
          { name: 'lo' },
          { name: 'lo' },
          { name: null, description: 'management' },
          { name: null, description: '' },
          { index: 70_000 },
        )
        const keys = (await listed(device)).map(({ key }) => key)
        assert.deepEqual(keys, ['lo#1', 'lo#2', 'management', '#4', 'Ethernet5'])
        assert.deepEqual(
          (await counters()).rows.map(({ key }) => key),
          keys,
        )
      })

      it('keeps the counters with the key when the numbers change', async () => {
        const [one, two] = [{ counters: { octetsIn: 1n } }, { counters: { octetsIn: 2n } }]
        const octets = (rows: readonly CounterRow[]) =>
          Object.fromEntries(rows.map(({ key, octetsIn }) => [key, octetsIn]))
        await rowsOf(ports(one, two, {}, {}, {}))
        const swapped = ports({ ...two, name: 'Ethernet2' }, { ...one, name: 'Ethernet1' }, {}, {}, {})
        assert.deepEqual(octets(await rowsOf(swapped)), {
          Ethernet1: 1n,
          Ethernet2: 2n,
          Ethernet3: 0n,
          Ethernet4: 0n,
          Ethernet5: 0n,
        })
        fixture.set(ports(one, two, {}, {}, {}))
        assert.deepEqual(octets((await counters(['Ethernet2', 'Ethernet1'])).rows), {
          Ethernet1: 1n,
          Ethernet2: 2n,
        })
      })
    }

    if (can('states'))
      it('reads all states', async () => {
        const opers = [
          'up',
          'down',
          'testing',
          'unknown',
          'dormant',
          'not_present',
          'lower_layer_down',
        ] as const
        const device = ports(...opers.map((oper) => ({ oper })), { admin: 'testing' })
        const found = await listed(device)
        assert.deepEqual(
          found.map(({ oper }) => oper),
          [...opers, 'up'],
        )
        const { rows } = await counters()
        assert.deepEqual(
          rows.map(({ admin, oper }) => [admin, oper]),
          found.map(({ admin, oper }) => [admin, oper]),
        )
        assert.equal(rows.at(-1)!.admin, 'testing')
      })

    if (can('optics')) opticsCases(() => fixture)

    if (can('restart'))
      it('has a smaller clock after a restart', async () => {
        const [before] = await rowsOf(ports({}))
        fixture.restart!()
        const [row] = (await counters()).rows
        assert.ok(row!.uptimeCs < before!.uptimeCs)
      })

    if (can('datagrams')) datagramCases(() => fixture)
  })
}

function opticsCases(fixtureOf: () => DeviceFixture): void {
  const { signal } = new AbortController()
  const optic = (changes: Partial<ScriptedOptic> = {}) => ({
    optic: { serial: 'S1', lanes: 1, rxDbm: -3.2, ...changes },
  })
  const seen = async (...interfaces: Partial<ScriptedInterface>[]) => {
    fixtureOf().set(ports(...interfaces))
    return fixtureOf().source.listTransceivers(signal)
  }
  const readings = async (...interfaces: Partial<ScriptedInterface>[]): Promise<readonly OpticReading[]> => {
    await seen(...interfaces)
    return fixtureOf().source.readOptics(signal)
  }

  it('lists transceivers by interface, also swapped and pulled ones', async () => {
    const list = async (...interfaces: Partial<ScriptedInterface>[]) =>
      (await seen(...interfaces)).map(({ interfaceKey, serial }) => [interfaceKey, serial])
    assert.deepEqual(await list(optic(), {}), [['Ethernet1', 'S1']])
    assert.deepEqual(await list(optic({ serial: 'S2' }), {}), [['Ethernet1', 'S2']])
    assert.deepEqual(await list({}, {}), [])
  })

  it('has no reading of a module without monitoring', async () => {
    const [module] = await seen(optic({ rxDbm: null }))
    assert.equal(module?.hasDdm ?? false, false)
    const found = await readings(optic({ rxDbm: null }))
    assert.ok(found.every(({ rxDbm, txDbm }) => rxDbm === null && txDbm === null))
  })

  it('reads every lane', async () => {
    const found = (await readings(optic({ lanes: 4 }))).filter(({ lane }) => lane > 0)
    assert.deepEqual(
      found.map(({ interfaceKey, lane }) => [interfaceKey, lane]),
      [1, 2, 3, 4].map((lane) => ['Ethernet1', lane]),
    )
    for (const { rxDbm, isDark } of found) {
      assert.ok(Math.abs(rxDbm! + 3.2) < 1)
      assert.equal(isDark, false)
    }
    for (const { limits } of found)
      for (const limit of Object.values(limits).flatMap((one) => Object.values(one)))
        assert.ok(limit === null || Number.isFinite(limit))
  })

  it('reports no light as -40 dBm, never as infinite', async () => {
    const dark = await readings({ oper: 'down', ...optic({ rxDbm: -40 }) })
    assert.deepEqual(
      dark.filter(({ lane }) => lane > 0).map(({ rxDbm, isDark }) => [rxDbm, isDark]),
      [[-40, true]],
    )
  })
}

function datagramCases(fixtureOf: () => DeviceFixture): void {
  const { signal } = new AbortController()
  const many = ports(...Array.from({ length: 60 }, () => ({})))
  const read = async (fault: DeviceFault) => {
    const fixture = fixtureOf()
    fixture.set(many)
    await fixture.source.readCounters('all', signal)
    fixture.setFault(fault)
    return fixture.source.readCounters('all', signal)
  }

  for (const fault of ['slow', 'lossy', 'twice', 'small'] as const)
    it(`reads everything from a device that is ${fault}`, async () => {
      const { rows, failed, isPartial } = await read(fault)
      assert.deepEqual([rows.length, failed.length, isPartial], [60, 0, false])
    })

  it('reports latency and loss since the last call', async () => {
    fixtureOf().setFault('lossy')
    await fixtureOf().source.readHealth(signal)
    await read('lossy')
    const health = await fixtureOf().source.readHealth(signal)
    const value = (metric: string) => health.find((one) => one.metric === metric)!.value
    assert.ok(value('latency') > 0 && value('latency') < 300)
    assert.ok(value('loss') > 10 && value('loss') < 50)
  })

  it('keeps complete rows of a device that stops answering', async () => {
    const { rows, isPartial } = await read('half')
    assert.ok(rows.length > 0 && rows.length < 60)
    assert.equal(isPartial, true)
    assert.ok(rows.every(({ octetsIn, discardsOut }) => octetsIn === 0n && discardsOut === 0n))
  })

  it('accepts no answer from another address', async () => {
    await rejectsWith(read('stranger'), 'unreachable')
  })

  it('reports truncated answers as a protocol error', async () => {
    await rejectsWith(read('truncated'), 'protocol')
  })

  it('ends at a table without an end', async () => {
    const fixture = fixtureOf()
    fixture.set(many)
    fixture.setFault('endless')
    await rejectsWith(fixture.create().listInterfaces(signal), 'protocol')
  })
}

type Call = (signal: AbortSignal) => Promise<unknown>

function callsOf(source: DeviceSource): readonly Call[] {
  return [
    (signal) => source.probe(signal),
    (signal) => source.listInterfaces(signal),
    (signal) => source.readCounters('all', signal),
    (signal) => source.readCounters(['Ethernet1'], signal),
    (signal) => source.readHealth(signal),
    (signal) => source.listTransceivers(signal),
    (signal) => source.readOptics(signal),
    (signal) => source.readBgpSessions(signal),
  ]
}

async function rejectsWith(work: Promise<unknown>, kind: DriverErrorKind): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof DriverError, String(error))
    assert.equal(error.kind, kind, error.message)
    return true
  })
}

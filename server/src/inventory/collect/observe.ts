// One poll of a device, and how it is saved. States and counters are the poll; modules and gauges are extras: a device that
// cannot answer them keeps its counters, and its error names the failure.
import type { Trx } from '../../db/postgres.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import {
  saveAnswered,
  saveIdentity,
  saveInterfaces,
  saveStates,
  type DueDevice,
  type PollFailure,
} from './collect.store.ts'
import { saveCounters } from './counter.store.ts'
import type {
  CounterReading,
  DeviceIdentity,
  DeviceSource,
  HealthReading,
  OpticReading,
  SeenInterface,
  SeenTransceiver,
} from './device-source.ts'
import { saveGauges, saveTransceivers } from './gauge.store.ts'
import { reportStates } from './report-states.ts'

const pollSeconds = 60
const surveySeconds = 3600
const gaugeSeconds = 300
/** Extras end early enough for the counters to be saved within the lease. */
const extraTimeoutMs = 12_000

type Observation = {
  readonly survey?:
    | { readonly identity: DeviceIdentity; readonly interfaces: readonly SeenInterface[] }
    | undefined
  readonly counters: CounterReading
  readonly modules?: readonly SeenTransceiver[] | undefined
  readonly health?: readonly HealthReading[] | undefined
  readonly optics?: readonly OpticReading[] | undefined
  /** A part without an answer, or with a wrong one. */
  readonly failure: PollFailure | null
}

/** Asks the device for what is due. Throws if it does not answer, or not within the signal. */
export async function observe(
  source: DeviceSource,
  device: DueDevice,
  signal: AbortSignal,
): Promise<Observation> {
  const survey = device.isSurveyDue
    ? { identity: await source.probe(signal), interfaces: await source.listInterfaces(signal) }
    : undefined
  const counters = await source.readCounters('all', signal)
  const failures: PollFailure[] = counters.isPartial
    ? [
        {
          kind: 'protocol',
          text: 'the device stopped answering before the end of its counters',
          isSilent: false,
        },
      ]
    : []
  const extra = async <T>(
    isDue: boolean,
    read: (signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> => {
    if (!isDue) return undefined
    const timeout = AbortSignal.timeout(extraTimeoutMs)
    try {
      return await read(AbortSignal.any([signal, timeout]))
    } catch (error) {
      const failure = failureOf(error, timeout)
      if (signal.aborted || !failure) throw error
      failures.push({ ...failure, isSilent: false })
      return undefined
    }
  }
  return {
    survey,
    counters,
    modules: await extra(device.isSurveyDue, (ended) => source.listTransceivers(ended)),
    health: await extra(device.areGaugesDue, (ended) => source.readHealth(ended)),
    optics: await extra(device.areGaugesDue, (ended) => source.readOptics(ended)),
    failure: failures[0] ?? null,
  }
}

/** Writes an observation in the transaction of the poll. */
export async function saveObservation(
  trx: Trx,
  device: DueDevice,
  { survey, counters: { rows }, modules, health, optics, failure }: Observation,
): Promise<void> {
  const changes = []
  if (survey) {
    await saveIdentity(trx, device.id, survey.identity, surveySeconds)
    changes.push(...(await saveInterfaces(trx, device.id, survey.interfaces)))
  }
  changes.push(...(await saveStates(trx, device.id, rows)))
  await saveCounters(trx, device.id, rows)
  if (modules) await saveTransceivers(trx, device.id, modules, { isFirst: device.isNew })
  if (device.areGaugesDue)
    await saveGauges(trx, device.id, {
      health: health ?? [],
      optics: optics ?? [],
      uptimeCs: rows[0]?.uptimeCs,
    })
  await reportStates(trx, changes)
  await saveAnswered(trx, device.id, {
    pollSeconds,
    gaugeSeconds: device.areGaugesDue ? gaugeSeconds : 0,
    failure,
    hasChanged: changes.length > 0,
  })
}

/** Undefined: an error of the program, not of the device. */
export function failureOf(error: unknown, timeout: AbortSignal): PollFailure | undefined {
  if (timeout.aborted) return { kind: 'unreachable', text: 'no answer in time', isSilent: true }
  if (!(error instanceof DriverError)) return undefined
  return { kind: error.kind, text: error.message, isSilent: error.kind === 'unreachable' }
}

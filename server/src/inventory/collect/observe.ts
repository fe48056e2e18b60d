// One poll of a device, and how it is saved. States and counters are the poll; all else is a part: if the device cannot
// answer a part, or the database refuses its values, only this part fails, and its failure is stored as a state and
// logged.
import type { Trx } from '../../db/postgres.ts'
import { writeRows, type RefusedRow } from '../../db/write-rows.ts'
import { DriverError } from '../../runtime/driver-error.ts'
import {
  saveAnswered,
  saveDeviceIdentity,
  saveInterfaces,
  saveStates,
  type DueDevice,
  type PollFailure,
  type InterfaceStateChange,
} from './collect.store.ts'
import { reportSessions } from '../bgp/report-sessions.ts'
import { deleteUnlisted, saveSessions } from '../bgp/session.store.ts'
import { saveCounters } from './counter.store.ts'
import type {
  CounterReading,
  DeviceIdentity,
  DevicePart,
  DeviceSource,
  HealthReading,
  OpticReading,
  ReadPart,
  SeenBgpSession,
  SeenInterface,
  SeenTransceiver,
} from './device-source.ts'
import { saveGauges, saveTransceivers } from './gauge.store.ts'
import { watchProgress, type ProgressLimits } from './watch-progress.ts'
import { writeMessages } from '../../outbox/outbox.ts'
import { listPortsOf } from '../assignment/assigned-port.store.ts'

const pollSeconds = 60
const surveySeconds = 3600
const gaugeSeconds = 300
/** Also the total limit of all parts: counters of a port are lost with a gap of 15 minutes. */
const partLimits: ProgressLimits = { stallMs: 12_000, totalMs: 150_000 }

/** `error`: for the log, if it is an error of the program. */
export type PartFailure = PollFailure & { readonly error?: unknown }

export type DeviceObservation = {
  readonly survey?:
    | { readonly identity: DeviceIdentity; readonly interfaces: readonly SeenInterface[] }
    | undefined
  readonly counters: CounterReading
  readonly modules?: readonly SeenTransceiver[] | undefined
  readonly health?: readonly HealthReading[] | undefined
  readonly optics?: readonly OpticReading[] | undefined
  /** Undefined: they could not be read. */
  readonly sessions?: readonly SeenBgpSession[] | undefined
  /** The parts that were read; null: without a failure. Saving adds its own. */
  readonly parts: Map<DevicePart, PartFailure | null>
}

/** Reads the due parts of the device. Throws if it does not answer within the signal. */
export async function readDevice(
  source: DeviceSource,
  device: DueDevice,
  signal: AbortSignal,
): Promise<DeviceObservation> {
  const parts: DeviceObservation['parts'] = new Map()
  const readPart: ReadPart = async (part, read) => {
    using progress = watchProgress(() => source.answers(), partLimits)
    try {
      const value = await read(AbortSignal.any([signal, progress.signal]))
      parts.set(part, null)
      return value
    } catch (error) {
      if (signal.aborted) throw error
      parts.set(part, partFailure(error))
      return undefined
    }
  }
  const readIf = async <T>(isDue: boolean, part: DevicePart, read: (signal: AbortSignal) => Promise<T>) =>
    isDue ? readPart(part, read) : undefined
  const survey = device.isSurveyDue ? await readSurvey(source, device, signal, readPart) : undefined
  const counters = await source.readCounters('all', signal)
  parts.set('counters', counters.isPartial ? partialFailure : null)
  return {
    survey,
    counters,
    sessions: await readPart('bgp', (ended) => source.readBgpSessions(ended)),
    modules: await readIf(device.isSurveyDue, 'modules', (ended) => source.listTransceivers(ended)),
    health: await readIf(device.areGaugesDue, 'health', (ended) => source.readHealth(ended, readPart)),
    optics: await readIf(device.areGaugesDue, 'optics', (ended) => source.readOptics(ended)),
    parts,
  }
}

/** A device without a survey has no interfaces to poll: then the failure applies to the poll. */
async function readSurvey(
  source: DeviceSource,
  { isNew }: DueDevice,
  signal: AbortSignal,
  readPart: ReadPart,
): Promise<DeviceObservation['survey']> {
  const identity = await source.probe(signal, readPart)
  const interfaces = isNew
    ? await source.listInterfaces(signal, readPart)
    : await readPart('interfaces', (ended) => source.listInterfaces(ended, readPart))
  return interfaces && { identity, interfaces }
}

/** Writes an observation in the transaction of the poll. */
export async function saveObservation(
  trx: Trx,
  device: DueDevice,
  { survey, counters: { rows }, modules, health, optics, sessions, parts }: DeviceObservation,
): Promise<void> {
  /** Refused rows are the failure of their part; the others are saved. */
  const report = (part: DevicePart, [refused]: readonly RefusedRow<unknown>[]): void => {
    if (refused) parts.set(part, refusedFailure(refused.error))
  }
  const changes = []
  if (survey) {
    const { identity, interfaces } = survey
    report(
      'identity',
      await writeRows(trx, [identity], ([own]) => saveDeviceIdentity(trx, device.id, own!, surveySeconds)),
    )
    const found = await saveInterfaces(trx, device.id, interfaces)
    report('interfaces', found.refused)
    changes.push(...found.changes)
  }
  const states = await saveStates(trx, device.id, rows)
  report('counters', states.refused)
  changes.push(...states.changes)
  report('counters', await saveCounters(trx, device.id, rows))
  if (modules) report('modules', await saveTransceivers(trx, device.id, modules, { isFirst: device.isNew }))
  if (device.areGaugesDue)
    report(
      'health',
      await saveGauges(trx, device.id, {
        health: health ?? [],
        optics: optics ?? [],
        uptimeCs: rows[0]?.uptimeCs,
      }),
    )
  if (survey) await deleteUnlisted(trx, device.id)
  if (sessions && sessions.length > 0) {
    const saved = await saveSessions(trx, device.id, sessions)
    report('bgp', saved.refused)
    await reportSessions(trx, saved.changes)
  }
  await reportStates(trx, changes)
  const failed = [...parts].flatMap(([part, failure]) => (failure ? [{ part, failure }] : []))
  await saveAnswered(trx, device.id, {
    pollSeconds,
    gaugeSeconds: device.areGaugesDue ? gaugeSeconds : 0,
    failure:
      failed.length === 0
        ? null
        : {
            ...failed[0]!.failure,
            text: failed.map(({ part, failure: { text } }) => `${part}: ${text}`).join('; '),
          },
    hasSurveyFailed: parts.get('interfaces') != null,
    hasChanged: changes.length > 0,
  })
}

const refusedFailure = (error: unknown): PartFailure => ({
  kind: 'protocol',
  text: 'its values cannot be stored',
  isSilent: false,
  error,
})

const partialFailure: PartFailure = {
  kind: 'protocol',
  text: 'the device stopped answering before the end',
  isSilent: false,
}

/** A value that the program did not expect is an answer that cannot be read. */
const partFailure = (error: unknown): PartFailure => ({
  ...(failureOf(error) ?? { kind: 'protocol', text: 'its values cannot be read', error }),
  isSilent: false,
})

/** Undefined: an error of the program, not of the device. */
export function failureOf(error: unknown): PollFailure | undefined {
  if (!(error instanceof DriverError)) return undefined
  return { kind: error.kind, text: error.message, isSilent: error.kind === 'unreachable' }
}

/** Writes a message for each change of a port, except on devices in maintenance. */
async function reportStates(trx: Trx, changes: readonly InterfaceStateChange[]): Promise<void> {
  if (changes.length === 0) return
  const ports = await listPortsOf(
    trx,
    changes.map(({ interfaceId }) => interfaceId),
  )
  const messages = changes.flatMap(({ interfaceId, before, after }) =>
    (ports.get(interfaceId) ?? [])
      .filter(({ isInMaintenance }) => !isInMaintenance)
      .map(({ teamId, port, adminStatus, at }) => ({
        teamId,
        type: 'port.status_changed' as const,
        data: { ...port, before, after, admin_status: adminStatus, at: at.toISOString() },
      })),
  )
  await writeMessages(trx, messages)
}

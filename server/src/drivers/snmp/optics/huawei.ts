// HUAWEI-ENTITY-EXTENT-MIB: hwOpticalModuleInfoTable by entity. Powers of modules are in 0.01 dBm or in uW, by release;
// powers of lanes are texts such as `-191.00,-210.00`, in 0.01 dBm.
import {
  ethernetTypeIn,
  type LaneValues,
  opticModuleOf,
  type ModuleValues,
  positiveUpTo,
  readingsOf,
} from './assemble.ts'
import type { OpticFamily, OpticTables } from './family.ts'
import {
  type Conversion,
  decibels,
  indexesIn,
  integerAt,
  limitsAt,
  scaledTo,
  textAt,
  watts,
} from './values.ts'

const entry = '1.3.6.1.4.1.2011.5.25.31.1.1.3.1'
const column = {
  wavelength: 2,
  reach: 3,
  serial: 4,
  temperature: 5,
  voltage: 6,
  bias: 7,
  rx: 8,
  tx: 9,
  connector: 12,
  rxAlarmLow: 13,
  rxAlarmHigh: 14,
  txAlarmLow: 15,
  txAlarmHigh: 16,
  rxWarnLow: 20,
  rxWarnHigh: 21,
  txWarnLow: 22,
  txWarnHigh: 23,
  vendor: 24,
  part: 25,
  biasOfLanes: 31,
  rxOfLanes: 32,
  txOfLanes: 33,
} as const
const columns = Object.values(column).map((number) => `${entry}.${number}`)
const powers = [8, 9, 13, 14, 15, 16, 20, 21, 22, 23].map((number) => `${entry}.${number}`)

export const huaweiEntityExtent: OpticFamily = {
  name: 'HUAWEI-ENTITY-EXTENT-MIB',
  probe: `${entry}.${column.serial}`,
  columns,
  measured: [5, 6, 7, 8, 9, 31, 32, 33].map((number) => `${entry}.${number}`),
  decode(tables) {
    const toPower = powerConversion(tables)
    const modules = indexesIn(tables, columns)
      .map((index) => ({ index, values: moduleAt(tables, index, toPower) }))
      .filter(
        ({ index, values }) =>
          textAt(tables, `${entry}.${column.serial}`, index) !== null || readingsOf(values).length > 0,
      )
    return {
      transceivers: modules.map(({ index, values }) => identify(tables, index, values)),
      readings: modules.flatMap(({ values }) => readingsOf(values)),
    }
  },
}

/**
 * A negative value or limit can only be dBm, and then all powers of the device are. Without any the unit is uW. -1 is an absent
 * value in both.
 */
function powerConversion(tables: OpticTables): Conversion {
  const isNegative = powers.some((oid) =>
    indexesIn(tables, [oid]).some((index) => (integerAt(tables, oid, index) ?? 0) < -1),
  )
  return isNegative ? toDbm : toDbmOfMicrowatts
}

const present =
  (convert: Conversion): Conversion =>
  (value) =>
    value === -1 ? null : convert(value)
const toDbm = present(decibels(0.01))
const toDbmOfMicrowatts = present(watts(0.001))

function identify(tables: OpticTables, index: string, values: ModuleValues) {
  const text = (number: number) => textAt(tables, `${entry}.${number}`, index)
  const number = (of: number) => integerAt(tables, `${entry}.${of}`, index)
  return opticModuleOf(values.port, {
    vendor: text(column.vendor),
    part: text(column.part),
    serial: text(column.serial),
    type: ethernetTypeIn(text(column.part)),
    wavelengthNm: positiveUpTo(2_000, number(column.wavelength)),
    reachM: positiveUpTo(1_000_000, number(column.reach)),
    connector: { 1: 'SC', 7: 'LC', 8: 'MT-RJ', 9: 'MU' }[number(column.connector) ?? 0] ?? null,
    lanes: Math.max(1, values.lanes.length),
    hasDdm: readingsOf(values).length > 0,
  })
}

function moduleAt(tables: OpticTables, index: string, toPower: Conversion): ModuleValues {
  const number = (of: number) => integerAt(tables, `${entry}.${of}`, index)
  const limits = (...of: [number, number, number, number]) => limitsAt(tables, entry, of, index, toPower)
  const lanes = lanesAt(tables, index)
  const only = {
    lane: 1,
    rxDbm: toPower(number(column.rx)),
    txDbm: toPower(number(column.tx)),
    biasMa: toBias(number(column.bias)),
  }
  return {
    port: { kind: 'entity', index: Number(index) },
    temperatureC: scaledTo('temperature', 1)(number(column.temperature)),
    voltageV: toVoltage(number(column.voltage)),
    limits: {
      rx_power: limits(column.rxAlarmLow, column.rxWarnLow, column.rxWarnHigh, column.rxAlarmHigh),
      tx_power: limits(column.txAlarmLow, column.txWarnLow, column.txWarnHigh, column.txAlarmHigh),
    },
    lanes: lanes.length > 0 ? lanes : isEmpty(tables, index) ? [] : [only],
  }
}

/** A cage without a module has a row of zeros or of -1. */
const isEmpty = (tables: OpticTables, index: string): boolean =>
  [column.voltage, column.bias, column.rx, column.tx].every((number) => {
    const value = integerAt(tables, `${entry}.${number}`, index)
    return value === null || value === 0 || value === -1
  })

/** uA or mA, by release: no laser has 1 A, or less than 1 mA. */
const toBias: Conversion = (value) => scaledTo('bias', value !== null && value >= 1_000 ? 0.001 : 1)(value)
/** mV or V, by release. */
const toVoltage: Conversion = (value) =>
  scaledTo('voltage', value !== null && value >= 100 ? 0.001 : 1)(value)

function lanesAt(tables: OpticTables, index: string): LaneValues[] {
  const [bias, rx, tx] = [column.biasOfLanes, column.rxOfLanes, column.txOfLanes].map((number) =>
    listAt(tables, number, index),
  ) as [Numbers, Numbers, Numbers]
  return Array.from({ length: Math.max(rx.length, tx.length) }, (_, at) => ({
    lane: at + 1,
    rxDbm: toDbm(rx[at] ?? null),
    txDbm: toDbm(tx[at] ?? null),
    biasMa: toBias(bias[at] ?? null),
  }))
}

type Numbers = readonly (number | null)[]

function listAt(tables: OpticTables, number: number, index: string): Numbers {
  const text = textAt(tables, `${entry}.${number}`, index)
  return text === null ? [] : text.split(',').map((part) => (/^\s*-?\d/.test(part) ? Number(part) : null))
}

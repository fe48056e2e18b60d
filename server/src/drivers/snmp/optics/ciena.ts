// Modules of Ciena. WWP-LEOS-PORT-XCVR-MIB of SAOS 6: wwpLeosPortXcvrTable by the number of the port, which is the name of its interface, powers
// and their alarms in 0.0001 dBm. CIENA-CES-PORT-XCVR-MIB of SAOS 8: cienaCesPortXcvrTable by the number of the bridge port, powers in
// microwatts. CIENA-WS-PLATFORM-PM-MIB of Waveserver: averages of the current 15 minutes by ifIndex, as texts in dBm.
import { type OpticCell, plainFamily } from './plain-table.ts'
import { bitErrorRate, decibels, integerAt, scaledTo, textAt, watts } from './values.ts'

const entry = '1.3.6.1.4.1.6141.2.60.4.1.1.1.1'
const power = decibels(0.0001)
/** 0 without a measurement. */
const level: OpticCell['convert'] = (value) => (value === 0 ? null : power(value))

export const cienaSaos = plainFamily({
  name: 'WWP-LEOS-PORT-XCVR-MIB',
  probe: `${entry}.7`,
  portOf: (index) => ({ kind: 'name', name: index }),
  facts: { vendor: `${entry}.7`, part: `${entry}.9`, serial: `${entry}.11` },
  lanes: [{ rx: { column: `${entry}.105`, convert: level }, tx: { column: `${entry}.106`, convert: level } }],
  limits: {
    entry,
    of: { tx_power: [[108, null, null, 107], power], rx_power: [[110, null, null, 109], power] },
  },
})

const ces = '1.3.6.1.4.1.1271.2.1.9.1.1.1.1'
/** dot1dBasePortIfIndex of BRIDGE-MIB. */
const bridgePort = '1.3.6.1.2.1.17.1.4.1.2'
const microwatts = watts(0.001)
const notPresent = 4

export const cienaCes = plainFamily({
  name: 'CIENA-CES-PORT-XCVR-MIB',
  probe: `${ces}.2`,
  isPresent: (tables, index) => integerAt(tables, `${ces}.2`, index) !== notPresent,
  portOf(index, tables) {
    const ifIndex = integerAt(tables, bridgePort, index)
    if (ifIndex !== null) return { kind: 'interface', index: ifIndex }
    return { kind: 'name', name: textAt(tables, `${ces}.40`, index) ?? index }
  },
  facts: { vendor: `${ces}.25`, part: `${ces}.27`, serial: `${ces}.29` },
  wavelength: { column: `${ces}.31`, factor: 1 },
  temperature: { column: `${ces}.3`, convert: scaledTo('temperature', 1) },
  voltage: { column: `${ces}.4`, convert: scaledTo('voltage', 0.001) },
  lanes: [
    {
      rx: { column: `${ces}.6`, convert: microwatts },
      tx: { column: `${ces}.35`, convert: microwatts },
      bias: { column: `${ces}.5`, convert: scaledTo('bias', 1) },
    },
  ],
  limits: {
    entry: ces,
    of: {
      temperature: [[8, null, null, 7], scaledTo('temperature', 1)],
      voltage: [[10, null, null, 9], scaledTo('voltage', 0.001)],
      bias: [[12, null, null, 11], scaledTo('bias', 1)],
      tx_power: [[14, null, null, 13], microwatts],
      rx_power: [[16, null, null, 15], microwatts],
    },
  },
  others: [bridgePort, `${ces}.40`],
})

/** pmOpticalPower15minMonValue, index of the interface, the lane and the kind of value; pmModem15minMonValue without the lane. */
const opticalPower = '1.3.6.1.4.1.1271.3.5.22.24.1.5'
const modem = '1.3.6.1.4.1.1271.3.5.22.9.1.4'
const [rxAverage, txAverage, ber] = ['2', '5', '0'] as const
const lanesMax = 10

export const cienaWaveserver = plainFamily({
  name: 'CIENA-WS-PLATFORM-PM-MIB',
  probe: opticalPower,
  rowNumbers: 2,
  portOf: (index) => ({ kind: 'interface', index: Number(index) }),
  lanes: Array.from({ length: lanesMax }, (_, at) => ({
    rx: { column: opticalPower, suffix: `${at + 1}.${rxAverage}`, convert: decibels(1) },
    tx: { column: opticalPower, suffix: `${at + 1}.${txAverage}`, convert: decibels(1) },
    ...(at === 0 && { preFecBer: { column: modem, suffix: ber, convert: bitErrorRate } }),
  })),
})

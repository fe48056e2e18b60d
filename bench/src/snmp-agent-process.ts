// The agent of I1 and I2 in a separate process: a device with as many interfaces as its argument, and only the objects
// that are read. A second argument is the milliseconds before each answer. Sends its port to the parent, and ends with
// it.
import { startSnmpAgent } from '../../lab/src/snmp-agent.ts'
import { snmpValue, type SnmpValue } from '../../lab/src/snmp-ber.ts'
import type { SnmpRecord } from '../../lab/src/snmp-records.ts'
import { columnsOf } from '../../server/src/drivers/snmp/counters.ts'
import { ifTable, ifXTable } from '../../server/src/drivers/snmp/oids.ts'

const states: readonly string[] = [ifTable.adminStatus, ifTable.operStatus]
const large: readonly string[] = columnsOf['64'].slice(-4)

const records = Array.from({ length: Number(process.argv[2]) }, (_, at) => at + 1).flatMap((index) =>
  columnsOf['64'].map((column): SnmpRecord => [`${column}.${index}`, valueOf(column, index)]),
)

function valueOf(column: string, index: number): SnmpValue {
  if (column === ifXTable.name) return snmpValue.text(`Ethernet${index}`)
  if (states.includes(column)) return snmpValue.integer(1)
  if (column === ifXTable.counterDiscontinuityTime) return snmpValue.ticks(0)
  return large.includes(column) ? snmpValue.counter64(10n ** 15n + BigInt(index)) : snmpValue.counter(index)
}

const agent = await startSnmpAgent(records, { keepsRequests: false })
if (process.argv[3]) agent.faults = { delayMs: Number(process.argv[3]) }
process.once('disconnect', () => process.exit())
process.send!(agent.port)

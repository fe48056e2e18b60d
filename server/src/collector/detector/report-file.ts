// Files of reports of the detector, which wait in a spool for the database (decision 083).
import { DriverError } from '../../runtime/driver-error.ts'
import type { Detection } from './detection.ts'

/** A file: the number of reports, then one report per line. */
export const encodeReports = (detections: readonly Detection[]): Buffer =>
  Buffer.from([detections.length, ...detections.map((one) => JSON.stringify(one))].join('\n'))

/** The format of the spool of reports. */
export const reportFiles = {
  suffix: '.reports',
  rowsIn: (head: Uint8Array): number => Number.parseInt(Buffer.from(head).toString(), 10) || 0,
}

/** Throws DriverError. */
export function decodeReports(file: Uint8Array): Detection[] {
  try {
    const [, ...lines] = Buffer.from(file).toString().split('\n')
    return lines.map((line) => JSON.parse(line) as Detection)
  } catch (error) {
    throw new DriverError('refused', `not a file of reports: ${(error as Error).message}`)
  }
}

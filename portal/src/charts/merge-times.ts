// Series that were measured at different times, on one time axis. Pure.
import type { ChartValues } from './chart-props.ts'

export type Measured = { readonly times: readonly number[]; readonly values: ChartValues }

/** Returns all times in order, and each series at them: undefined where only others were measured. */
export function mergeTimes(measured: readonly Measured[]): {
  readonly times: readonly number[]
  readonly columns: readonly ChartValues[]
} {
  const times = [...new Set(measured.flatMap((one) => one.times))].toSorted((a, b) => a - b)
  const columns = measured.map((one) => {
    const byTime = new Map(one.times.map((time, at) => [time, one.values[at]]))
    return times.map((time) => byTime.get(time))
  })
  return { times, columns }
}

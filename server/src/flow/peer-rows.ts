// The rows by AS and country as a part of a statement. Pure.
import { keyExpression } from './flow-key.ts'

/**
 * Sums by AS and country are made when an hour is over. Later flows of the team are read directly, as rows of their
 * hour: without them a series would fall to 0 at its end.
 */
export function peerRows(within: string): string {
  const last = `(select max(time) + 3600 from flows_by_peer_1h where ${within})`
  const [asn, country] = [keyExpression('flows', 'remote_asn'), keyExpression('flows', 'remote_country')]
  return (
    `select time, direction, remote_as, remote_country, bytes, packets, flows from flows_by_peer_1h where ${within} union all ` +
    `select toStartOfHour(flows.time), direction, ${asn}, ${country}, ` +
    `bytes * greatest(sampling_rate, 1), packets * greatest(sampling_rate, 1), toUInt64(flow_count) from flows where ${within} and time >= ${last}`
  )
}

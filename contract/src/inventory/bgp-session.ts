// The BGP sessions of a port, as the router of the provider reports them.
import { Type, type Static } from 'typebox'
import { bgpResetReasons } from '../reason/bgp-reset-reason.ts'
import { AsnNumber, Component, Enumeration, Id, Nullable, NullableTime } from '../scalar.ts'

/** States of RFC 4271 section 8.2.2; `disabled`: by the configuration of the router. */
export const bgpStates = [
  'idle',
  'connect',
  'active',
  'opensent',
  'openconfirm',
  'established',
  'disabled',
  'unknown',
] as const
export type BgpState = (typeof bgpStates)[number]
export const BgpStateOf = Enumeration('BgpState', bgpStates)
export const BgpResetReasonOf = Enumeration('BgpResetReason', bgpResetReasons)

/** Maximum number of sessions of one port. */
export const bgpSessionsMax = 100

export const BgpSession = Component(
  'BgpSession',
  {
    port_id: { ...Id, description: 'id of the port' },
    peer: Type.String({ description: 'address of the neighbor, which is the router of the customer' }),
    peer_asn: Nullable({ ...AsnNumber, description: 'ASN of the neighbor; null if not known' }),
    state: {
      ...BgpStateOf,
      description:
        'state on the router of the provider; `disabled`: by its configuration; `unknown`: it was not read in the last 15 minutes',
    },
    established: {
      ...NullableTime,
      description: 'since when it is established, or when it was last; null if never, or not known',
    },
    prefixes: Type.Array(
      Component('BgpSessionPrefixes', {
        family: { ...Enumeration('BgpFamily', ['ipv4', 'ipv6']), description: 'address family' },
        received: Nullable(
          Type.Integer({
            minimum: 0,
            description:
              'prefixes that the neighbor announces now, of some routers those that they accept; null if not known',
          }),
        ),
        limit: Nullable(
          Type.Integer({
            minimum: 0,
            description:
              'with more prefixes the router ends the session; null if there is none, or it is not known',
          }),
        ),
      }),
      { description: 'by address family, of unicast routes; empty if the router does not report them' },
    ),
    last_reset: Nullable(
      Component(
        'BgpSessionReset',
        {
          at: {
            ...NullableTime,
            description:
              'when the session was established no more; null if it ended while its state was unknown, and the router does not tell when',
          },
          reason: { ...BgpResetReasonOf, description: 'code of the reason' },
          message: Type.String({ description: 'the reason as text' }),
          detail: Type.String({ description: 'text of the router; empty if it has none' }),
        },
        {
          description:
            'the last end of the session; null if none was seen since the port belongs to the team',
        },
      ),
    ),
  },
  { description: 'a BGP session between a router of the provider and one of the customer' },
)
export type BgpSession = Static<typeof BgpSession>

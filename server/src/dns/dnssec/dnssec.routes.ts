// The HTTP side of DNSSEC: one line per operation.
import {
  disableDnssecRoute,
  enableDnssecRoute,
  getDnssecRoute,
  rollOverDnssecKeyRoute,
} from '@pharos/contract/dns/dnssec'
import { handle, type Mounted } from '../../http/mount.ts'
import {
  disableDnssec,
  enableDnssec,
  getDnssec,
  rollOverDnssecKey,
  type DnssecDeps,
} from './request-dnssec.ts'

export const dnssecRoutes = (deps: DnssecDeps): Mounted[] => [
  handle(enableDnssecRoute, enableDnssec, deps),
  handle(getDnssecRoute, getDnssec, deps),
  handle(rollOverDnssecKeyRoute, rollOverDnssecKey, deps),
  handle(disableDnssecRoute, disableDnssec, deps),
]

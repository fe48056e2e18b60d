// The HTTP route of the time zone of a place.
import { getTimezoneRoute } from '@pharos/contract/timezone'
import { handle, type Mounted } from '../../http/mount.ts'
import { getTimezone, type TimezoneDeps } from './timezone.ts'

export const timezoneRoutes = (deps: TimezoneDeps): Mounted[] => [handle(getTimezoneRoute, getTimezone, deps)]

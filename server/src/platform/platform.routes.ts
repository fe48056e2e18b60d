// The HTTP side of the platform document.
import { applyPlatformRoute } from '@pharos/contract/operator/platform'
import { handleStaff, type Mounted } from '../http/mount.ts'
import { applyDocument, type ApplyDeps } from './apply-document.ts'

export const platformRoutes = (deps: ApplyDeps): Mounted[] => [
  handleStaff(applyPlatformRoute, applyDocument, deps),
]

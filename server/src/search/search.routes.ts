// HTTP route of the search.
import { searchRoute } from '@pharos/contract/search'
import { handle, type Mounted } from '../http/mount.ts'
import { search, type SearchDeps } from './search.ts'

export const searchRoutes = (deps: SearchDeps): Mounted[] => [handle(searchRoute, search, deps)]

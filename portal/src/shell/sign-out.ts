// Signing out from a menu. Reports a failure: on a shared device, the next person would have the session.
import { session, StillSignedIn } from '../api/session.ts'
import { notifyFailure } from '../ui/notify.ts'
import { words } from './words.ts'

export const signOut = (): Promise<void> =>
  session
    .signOut()
    .catch((error) =>
      notifyFailure(error instanceof StillSignedIn ? words.notSignedOut : words.maybeSignedIn),
    )

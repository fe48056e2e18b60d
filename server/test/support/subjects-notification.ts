// The operations of personal notifications: they belong to the caller, whatever the team is.
import { examples } from '@pharos/contract/examples/index'
import { only, type Subject } from './subject.ts'

const settings = examples.get('updateNotificationSettings')!.body as unknown as object
/** Another threshold each time, so that every call changes something. */
let threshold = 1

export const notificationSubjects: readonly Subject[] = [
  { route: 'getNotificationSettings', requests: only(), answers: () => 200 },
  {
    route: 'updateNotificationSettings',
    requests: { only: async () => ({ body: { ...settings, attack_bps: threshold++ } }) },
    answers: () => 200,
  },
  { route: 'listNotifications', requests: only(), answers: () => 200 },
  { route: 'readNotifications', requests: only({ body: { up_to: 1 } }), answers: () => 200 },
]

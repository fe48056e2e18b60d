// Where short messages appear. It is loaded beside the first page, which does not wait for it: what is told before is shown
// as soon as it is there.
import '@mantine/notifications/styles.css'
import { Notifications } from '@mantine/notifications'

export const Messages = () => <Notifications position="bottom-right" />

// The corner where short messages appear. It is loaded after the first page; messages sent before are shown then.
import '@mantine/notifications/styles.css'
import { Notifications } from '@mantine/notifications'

export const NotificationArea = () => <Notifications position="bottom-right" />

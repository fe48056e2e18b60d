// The corner where short messages appear. It is loaded after the first page; earlier messages appear then.
import '@mantine/notifications/styles.css'
import { Notifications } from '@mantine/notifications'

export const NotificationArea = () => <Notifications position="bottom-right" />

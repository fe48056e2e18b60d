// The least that a page of React and Mantine can be: a form to sign in, in one file of scripts, without routes or queries.
import '@mantine/core/styles.css'
import { Button, Card, MantineProvider, PasswordInput, Stack, TextInput } from '@mantine/core'
import { createRoot } from 'react-dom/client'

createRoot(document.getElementById('page')).render(
  <MantineProvider>
    <Card>
      <Stack>
        <TextInput label="E-mail" autoComplete="username" />
        <PasswordInput label="Password" autoComplete="current-password" />
        <Button type="submit">Sign in</Button>
      </Stack>
    </Card>
  </MantineProvider>,
)

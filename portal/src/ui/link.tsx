// Links within the portal as text and as buttons: the router checks their path, parameters and search.
import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core'
import { createLink, type LinkComponent } from '@tanstack/react-router'
import type { Ref } from 'react'

type Target = { readonly ref?: Ref<HTMLAnchorElement> }

const AnchorElement = (props: Omit<AnchorProps, 'href'> & Target) => <Anchor {...props} />
const ButtonElement = (props: Omit<ButtonProps, 'href'> & Target) => <Button component="a" {...props} />

export const TextLink: LinkComponent<typeof AnchorElement> = createLink(AnchorElement)
export const ButtonLink: LinkComponent<typeof ButtonElement> = createLink(ButtonElement)

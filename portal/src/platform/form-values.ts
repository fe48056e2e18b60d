// The values of an element's form now: what a reference may name depends on the team, and settings on the driver.
import { createContext } from 'react'
import type { ElementFields } from './element-form.ts'

export const FormValues = createContext<ElementFields>({})

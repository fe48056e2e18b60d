-- The audit as a chain: who presented which credential, and the seal of every entry.
select;

-- Accounts: passwords, tokens that come by mail, and how often somebody failed to sign in.
select;

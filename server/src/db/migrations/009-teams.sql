-- What a team says of itself, its members and those it has invited.
select;

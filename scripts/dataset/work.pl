my %counts;
$counts{"key " . ($_ % 1000)} += $_ for 1 .. 50000;
my @lines = map { "line $_ of many" } 1 .. 5000;
my $matches = grep { /7 of/ } @lines;
print scalar(keys %counts) + $matches, "\n";

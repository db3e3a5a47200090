<?php
$counts = [];
for ($i = 0; $i < 50000; ++$i) {
  $key = "key " . ($i % 1000);
  $counts[$key] = ($counts[$key] ?? 0) + $i;
}
$lists = [];
for ($i = 0; $i < 200; ++$i) $lists[] = array_fill(0, 500, $i);
echo count($counts) + array_sum(array_map('array_sum', $lists)), "\n";

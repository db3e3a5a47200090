CREATE TABLE items (id integer PRIMARY KEY, name text, amount integer);
INSERT INTO items SELECT i, 'item ' || i, i % 97 FROM generate_series(1, 5000) AS s(i);
CREATE INDEX amounts ON items (amount);
SELECT amount, count(*) FROM items GROUP BY amount ORDER BY 2 DESC, 1 LIMIT 3;

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
  struct node *left, *right;
  int key;
  char name[32];
};

static struct node *insert(struct node *root, int key) {
  if (root == NULL) {
    root = calloc(1, sizeof *root);
    root->key = key;
    snprintf(root->name, sizeof root->name, "node %d", key);
  } else if (key < root->key) {
    root->left = insert(root->left, key);
  } else {
    root->right = insert(root->right, key);
  }
  return root;
}

static double weight(const struct node *root) {
  return root == NULL ? 0 : sqrt(root->key) + (double)strlen(root->name) + weight(root->left) + weight(root->right);
}

int main(void) {
  struct node *root = NULL;
  for (int i = 0; i < 1000; ++i) root = insert(root, i * 7919 % 1009);
  printf("%f\n", weight(root));
  return 0;
}
